"""Everything about the package stands in pyproject.toml, but for the recordings.

They lie in assets/recordings, where they are edited and read; a wheel carries a copy of them.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithRecordings(build_py):
    """The package's files, and beside them the recordings; nothing that an older build left."""

    def run(self) -> None:
        if not self.editable_mode:  # an editable install reads assets/recordings itself
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            recordings = Path(self.build_lib) / "rooflab" / "recordings"
            shutil.copytree("assets/recordings", recordings)


setup(cmdclass={"build_py": WithRecordings})
