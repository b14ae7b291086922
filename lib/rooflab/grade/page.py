"""The HTML of the reports: one look, everything escaped, no script, nothing loaded from elsewhere.

What students wrote goes through :func:`text` and nowhere else into a page; the page's own policy
also forbids scripts, in case that a hole is left.
"""

from __future__ import annotations

import html

from rooflab.grade.names import one_line

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #222; --soft: #555; --line: #dcdcdc;
  --link: #00598c; --code: #f5f5f5; --hint: #eef5fa; --note: #fff6f0; --track: #e3e3e3;
  --right: #009E73; --wrong: #D55E00; --open: #6B6B6B; --bar: #0072B2; }
@media screen and (prefers-color-scheme: dark) { :root { --page: #191919; --ink: #e6e6e6;
  --soft: #b0b0b0; --line: #444; --link: #7cc0ee; --code: #262626; --hint: #1b2d3a;
  --note: #33251c; --track: #3a3a3a; --open: #9a9a9a; --bar: #56B4E9; }
  img { filter: invert(.9) hue-rotate(180deg); } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.5rem 3rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .2rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1.06rem; margin: 0; }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--link); }
nav { margin: .8rem 0 0; }
img { max-width: 100%; height: auto; display: block; margin: .4rem 0; }
.who { color: var(--soft); margin: 0; overflow-wrap: anywhere; }
.score { font-size: 1.5rem; margin: 1.2rem 0 .3rem; }
.bar { height: .8rem; background: var(--track); border-radius: .4rem; overflow: hidden;
  max-width: 30rem; margin-bottom: 1.2rem; }
.bar span { display: block; height: 100%; background: var(--bar); }
.box { border: 1px solid var(--wrong); background: var(--note); padding: .6rem .9rem;
  margin: 1rem 0; }
.box p { margin: .2rem 0; }
article { border: 1px solid var(--line); border-left: .4rem solid var(--open);
  border-radius: .3rem; padding: .7rem 1rem .5rem; margin: .8rem 0; break-inside: avoid; }
article.right { border-left-color: var(--right); }
article.wrong { border-left-color: var(--wrong); }
article header { display: flex; gap: .2rem 1rem; justify-content: space-between;
  flex-wrap: wrap; }
.points { font-variant-numeric: tabular-nums; white-space: nowrap; color: var(--soft); }
.id { color: var(--soft); font-weight: normal; font-size: .92rem; white-space: nowrap; }
.hint { background: var(--hint); border-radius: .25rem; padding: .4rem .7rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem;
  margin: .6rem 0 .3rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .2rem 0; }
code, pre { font: .94rem/1.45 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
pre { background: var(--code); padding: .6rem .8rem; margin: .3rem 0 .5rem;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .32rem .9rem .32rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: break-word; }
th { white-space: nowrap; }
td:has(bdi) { overflow-wrap: anywhere; min-width: 9rem; }
th.number, td.number { text-align: right; white-space: nowrap; }
.number + th:not(.number), .number + td:not(.number) { padding-left: .8rem; }
section h3 { margin: 1.6rem 0 .4rem; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .94rem; }
@media (max-width: 40rem) { body { padding: 1rem .9rem 2rem; } td:first-child { min-width: 8rem; }
  th, th.number { white-space: normal; vertical-align: bottom; }
  .number + .number { padding-left: .3rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } a { color: inherit; }
  nav { display: none; } pre { max-height: none; } thead { display: table-header-group; }
  tr { break-inside: avoid; }
  .bar, .hint, .box, article, img { print-color-adjust: exact;
    -webkit-print-color-adjust: exact; } }
"""


def text(words: object) -> str:
    """Return ``words`` as HTML text, also right inside an attribute in double quotes."""
    return html.escape(str(words), quote=True)


def name(words: str) -> str:
    """Return a name as HTML, kept apart from the direction in which its neighbours are written."""
    return f"<bdi>{text(one_line(words))}</bdi>"


def page(title: str, body: str) -> str:
    """Return a whole page; ``title`` is plain text, ``body`` finished HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def bar(points: int, most: int) -> str:
    """Return the score as a bar; it is said in words beside it, so readers aloud skip it."""
    share = 100 * points / most if most else 0
    return f'<div class="bar" aria-hidden="true"><span style="width:{share:.1f}%"></span></div>'


def box(*lines: str) -> str:
    """Return a framed note, one paragraph a line of plain text; nothing without lines."""
    said = "".join(f"<p>{text(line)}</p>" for line in lines if line)
    return f'<div class="box" role="note">{said}</div>' if said else ""


def table(columns: list[str], rows: list[list[str]], numbers: tuple[int, ...] = ()) -> str:
    """Return a table; headings are plain text, the cells finished HTML."""

    def one(tag: str, place: int, inside: str, more: str = "") -> str:
        kind = ' class="number"' if place in numbers else ""
        return f"<{tag}{more}{kind}>{inside}</{tag}>"

    head = "".join(one("th", n, text(c), ' scope="col"') for n, c in enumerate(columns))
    lines = ["".join(one("td", n, cell) for n, cell in enumerate(row)) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    inside = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    # A wide table is scrolled by itself, on a telephone, and by the keyboard too.
    return f'<div class="wide" tabindex="0"><table>\n{inside}\n</table></div>'
