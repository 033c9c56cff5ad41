# SPDX-License-Identifier: BSD-3-Clause
"""Charts of several panels, as SVG: the same lines give the same file, byte by byte; text is text; each line is named
where it ends; and pages that are dark where the reader wants them so get dark charts."""
import pathlib
import sys
from dataclasses import dataclass, field

INK, PAPER, GRID = "#1f2328", "#ffffff", "#d0d7de"
COLOURS = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#57606a", "#cf222e")
# What each becomes on a dark page.
DARK = dict(zip((INK, PAPER, GRID, *COLOURS),
                ("#e6edf3", "#0d1117", "#30363d", "#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#8b949e", "#ff7b72")))
MARKERS = "osD^vP"
LABEL_POINTS = 10  # from one name to the next
MOST_DIGITS = 27  # side by side below a panel
PANEL_INCHES = (4.2, 2.9)


@dataclass
class Panel:
    title: str
    x_title: str
    y_title: str
    lines: dict  # {name: {x: y}}; of those with the same name, colour and mark are the same in all panels of a chart
    fits: dict = field(default_factory=dict)  # {name of a line: (slope, what it is at 0)}, drawn dashed
    log_x: bool = False
    log_y: bool = False
    has_marks: bool = True
    level: float = None  # drawn across


@dataclass
class Figure:
    title: str
    rows: list  # of panels, all of one length
    facts: list  # sentences: what came out, and what the paper has


def rounds_of(rows):
    """", 10,000 rounds", or from how few to how many."""
    counts = sorted({row["rounds"] for row in rows if "rounds" in row})
    if not counts:
        return ""
    return f", {counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "") + " rounds"


def in_rows(panels, most=2):
    """Rows of equal length: all in one if there is an odd number of them."""
    length = most if len(panels) % most == 0 else len(panels)
    return [panels[i:i + length] for i in range(0, len(panels), length)]


def load_pyplot():
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
    except ImportError:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: matplotlib is missing:\n"
                 "  python3 -m venv .venv/figures\n"
                 "  .venv/figures/bin/pip install -r scripts/requirements/figures.txt\n"
                 f"  .venv/figures/bin/python {' '.join(sys.argv)}")
    matplotlib.use("svg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    matplotlib.rcParams.update({
        "svg.hashsalt": "hocket", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 9, "axes.grid": True,
        "grid.linewidth": 0.4, "grid.color": GRID, "axes.edgecolor": GRID, "axes.labelcolor": INK, "text.color": INK,
        "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False,
        "figure.facecolor": PAPER, "axes.facecolor": PAPER})
    return plt


def style_of(names):
    return {name: (COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(names)}


def name_lines(figure, axes, ends):
    """`ends`: {name: (x, y, colour)}. Names that would meet are moved apart, each as little as can be."""
    to_points = 72 / figure.dpi
    heights = sorted((axes.transData.transform((x, y))[1] * to_points, name) for name, (x, y, _) in ends.items())
    places, lowest = {}, -1e9
    for height, name in heights:
        lowest = max(lowest + LABEL_POINTS, height)
        places[name] = lowest
    # All together back by half of what the highest was moved.
    if heights:
        back = (places[heights[-1][1]] - heights[-1][0]) / 2
        for height, name in heights:
            x, y, colour = ends[name]
            moved = places[name] - height - back
            axes.annotate(name, (x, y), xytext=(7, moved), textcoords="offset points", va="center", color=colour,
                          fontsize=8, annotation_clip=False)


def draw_panel(axes, panel, styles):
    for name, line in panel.lines.items():
        colour, mark = styles[name]
        axes.plot(list(line), list(line.values()), color=colour, marker=mark if panel.has_marks else "",
                  markersize=3.5, linewidth=1.2)
    for name, (slope, at_zero) in panel.fits.items():
        xs = [min(panel.lines[name]), max(panel.lines[name])]
        axes.plot(xs, [at_zero + slope * x for x in xs], color=styles[name][0], linewidth=0.8, linestyle="--")
    if panel.level is not None:
        axes.axhline(panel.level, color=INK, linewidth=0.8)
    axes.set(title=panel.title, xlabel=panel.x_title, ylabel=panel.y_title)
    xs = sorted({x for line in panel.lines.values() for x in line})
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if len(xs) <= 16:
        names = [f"{x:g}" for x in xs]
        axes.set_xticks(xs, names, rotation=30 if sum(map(len, names)) > MOST_DIGITS else 0)
        axes.minorticks_off()


def darkened(svg):
    rules = "".join(f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
                    for light, dark in DARK.items() for what in ("fill", "stroke"))
    return svg.replace("</style>", f"@media (prefers-color-scheme:dark){{{rules}}}</style>", 1)


def draw(path, title, rows):
    """`rows`: lists of panels, of one length."""
    plt = load_pyplot()
    wide, high = PANEL_INCHES
    columns = max(map(len, rows))
    figure, grid = plt.subplots(len(rows), columns, squeeze=False, layout="constrained",
                                figsize=(wide * columns, high * len(rows) + 0.3))
    styles = style_of(dict.fromkeys(name for row in rows for panel in row for name in panel.lines))
    figure.suptitle(title, fontsize=10)
    panels = [(axes, panel) for line, row in zip(grid, rows) for axes, panel in zip(line, row)]
    for line, row in zip(grid, rows):
        for axes in line[len(row):]:
            axes.set_axis_off()
    for axes, panel in panels:
        draw_panel(axes, panel, styles)
    for _ in range(2):  # names take room, by which lines move
        figure.canvas.draw()
        for axes, panel in panels:
            for text in list(axes.texts):
                text.remove()
            name_lines(figure, axes, {name: (max(line), line[max(line)], styles[name][0])
                                      for name, line in panel.lines.items()})
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_text(darkened(path.read_text(encoding="utf-8")), encoding="utf-8")
