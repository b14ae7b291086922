"""The three notebooks that slider_latency.py compares: one roofline, one point, one slider.

The pictures of @interact and ipympl carry their slider value in the colour of a square in the
corner, which probe.js reads; the live roofline says it in an attribute.
"""

STEPS = 1500
#: What is moved: the handle of ipywidgets, or the slider of our own picture.
SLIDER = ":is(.noUi-handle, .rl-live-roofline .rl-sliders input)"

INTERACT = f"""%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import IntSlider, interact
ai = np.logspace(-1.5, 4.5, 400)
@interact(v=IntSlider(value=0, min=0, max={STEPS}, layout={{'width': '720px'}}))
def show(v):
    fig, ax = plt.subplots(figsize=(7.2, 4.8))
    ax.loglog(ai, np.minimum(989e12, ai * 3.35e12), lw=3)
    x = 10 ** (-1.5 + 6 * v / {STEPS}); ax.plot([x], [min(989e12, x * 3.35e12)], "o", ms=10)
    ax.set(xlim=(0.03, 3e4), ylim=(1e9, 1e16), title=f"v={{v}}"); ax.grid(alpha=0.4)
    fig.patches.append(plt.Rectangle((0, 0), 0.06, 0.08, transform=fig.transFigure,
                       color=(v % 256 / 255, v // 256 * 16 / 255, 128 / 255)))
    plt.show()
"""
IPYMPL = f"""%matplotlib widget
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import IntSlider
ai = np.logspace(-1.5, 4.5, 400)
with plt.ioff():
    fig, ax = plt.subplots(figsize=(7.2, 4.8))
ax.loglog(ai, np.minimum(989e12, ai * 3.35e12), lw=3); (dot,) = ax.plot([1], [1e12], "o", ms=10)
ax.set(xlim=(0.03, 3e4), ylim=(1e9, 1e16), title="v=0"); ax.grid(alpha=0.4)
tag = plt.Rectangle((0, 0), 0.06, 0.08, transform=fig.transFigure, color=(0, 0, 128 / 255))
fig.patches.append(tag); s = IntSlider(value=0, min=0, max={STEPS}, layout={{'width': '720px'}})
def move(change):
    v = s.value; x = 10 ** (-1.5 + 6 * v / {STEPS})
    dot.set_data([x], [min(989e12, x * 3.35e12)]); ax.set_title(f"v={{v}}")
    tag.set_color((v % 256 / 255, v // 256 * 16 / 255, 128 / 255)); fig.canvas.draw_idle()
s.observe(move, "value"); display(s, fig.canvas)
"""
# One tick a slider value needs more values than a lesson's slider has.
LIVE = f"""import rooflab as rl
from rooflab.show.rooflines import live
live.sizes = lambda *lowest: tuple(range(16, 16 + {STEPS} + 1))
live.batches = lambda: (1,)
w = rl.live.roofline(machine="h100-sxm", dtype="bf16", dtypes=("bf16",), n=16)
w
"""
VARIANTS = {"rooflab": LIVE, "interact": INTERACT, "ipympl": IPYMPL}
KIND = {"rooflab": "data", "interact": "img", "ipympl": "canvas"}
