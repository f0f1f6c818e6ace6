"""A chart an experiment, in the paper's arrangement, as inline SVG."""
import io

import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt

from costs import OPERATIONS, profile, searches_of
from rows import LAYOUTS, MODELLED, POSITIONS, TIME

LINE_BYTES = 64
BLOCK_BYTES = 256
COLOURS = {"sorted": "#0b3c6f", "unsorted": "#c1272d", "bitmap": "#3f8f4f", "indirection": "#d08a1d",
           "hashing": "#7b4fa3", "counted_hashing": "#b89bd0"}
DASHES = {"interpolation": "--", "exponential": ":", "copy": "--"}
# A panel's metric: (title, metric of the rows, factor).
MEASURED = ("measured here, ns", TIME, 1)
OPTANE = ("modelled: Optane idle, ns", MODELLED + "optane_idle", 1)
LOADED = ("modelled: Optane loaded, ns", MODELLED + "optane_loaded", 1)
LINES_READ = ("lines of 64 B read", "lines_read", 1)
MODIFIED = ("bytes modified", "bytes_modified", 1)
WRITTEN = ("bytes written, in lines of 64 B", "lines_written", LINE_BYTES)
BLOCKS = ("bytes written, in blocks of 256 B", "blocks_written", BLOCK_BYTES)


def svg(figure):
    """The figure as an <svg> element, without the XML head that HTML does not allow."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)
    text = buffer.getvalue()
    return "<figure>" + text[text.index("<svg"):] + "</figure>\n"


def byte_name(size):
    return "%d B" % size if size < 1024 else "%d KiB" % (size >> 10)


def draw(axis, xs, series, x_names=None, logarithmic=False):
    """series: [(label, colour, dashes, values)]; a value that is None leaves a gap."""
    places = range(len(xs))
    for label, colour, dashes, values in series:
        if any(value is not None for value in values):
            shown = [float("nan") if value is None else value for value in values]
            axis.plot(places, shown, label=label, color=colour, linestyle=dashes, marker="o", markersize=3,
                      linewidth=1.4)
    axis.set_xticks(list(places), x_names or [str(x) for x in xs], fontsize=8)
    axis.tick_params(axis="y", labelsize=8)
    axis.grid(alpha=0.3)
    if logarithmic:
        axis.set_yscale("log")
    else:
        axis.set_ylim(0, axis.dataLim.ymax * 1.08 or 1)  # a line along the top is seen, too


def grid(row_metrics, columns, panel, legend_columns=6):
    """A row a metric, a column a case; panel(axis, metric, column) draws one."""
    figure, axes = plt.subplots(len(row_metrics), len(columns), squeeze=False,
                                figsize=(4.2 * max(len(columns), 2), 2.7 * len(row_metrics)))
    for i, metric in enumerate(row_metrics):
        for j, column in enumerate(columns):
            panel(axes[i][j], metric, column)
            axes[i][j].set_title(": ".join(part for part in (column, metric[0]) if part), fontsize=9)
    handles, labels = [], []
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    figure.tight_layout()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=legend_columns, fontsize=8)
    return svg(figure)


def by_size(rows, value, series):
    """A panel over node sizes. series: [(label, colour, dashes, variables)]; value(metric, size, column, variables)."""
    sizes = rows.sizes()

    def panel(axis, metric, column):
        lines = []
        for label, colour, dashes, variables in series:
            found = [value(metric[1], size, column, variables) for size in sizes]
            lines.append((label, colour, dashes, [None if v is None else v * metric[2] for v in found]))
        draw(axis, sizes, lines, [byte_name(size) for size in sizes])
    return panel


def layouts(key="layout"):
    return [(layout, COLOURS[layout], "-", {key: layout}) for layout in LAYOUTS]


def search(rows):
    series = [("%s, %s" % (layout, method), COLOURS[layout], DASHES.get(method, "-"),
               {"layout": layout, "search": method})
              for layout in LAYOUTS for method in searches_of(layout)]
    cold = by_size(rows, lambda metric, size, column, v: rows.value(
        "E1", metric, node=size, position=column, placement="pmem", cache="cold", **v), series)
    cached = by_size(rows, lambda metric, size, column, v: rows.value(
        "E1", metric, node=size, position=column, placement="pmem", cache="cached", **v), series)

    def panel(axis, metric, column):
        (cached if metric[0].startswith("cached") else cold)(axis, metric, column)
    return grid([MEASURED, ("cached, measured here, ns", TIME, 1), OPTANE, LINES_READ], POSITIONS, panel, 4)


def traverse(rows):
    levels = sorted({int(has["levels"]) for has, _ in rows.find("E2")})

    def panel(axis, metric, _):
        draw(axis, levels, [("inner nodes in %s" % name, colour, "-",
                             [rows.value("E2", metric[1], levels=level, inner=inner) for level in levels])
                            for name, inner, colour in (("PMem", "pmem", COLOURS["unsorted"]),
                                                        ("DRAM", "dram", COLOURS["sorted"]))])
        axis.set_xlabel("levels of inner nodes", fontsize=8)
    return transposed([MEASURED, OPTANE, LOADED], panel)


def transposed(metrics, panel):
    """One row of panels, a metric each."""
    by_title = {metric[0]: metric for metric in metrics}
    return grid([("", None, 1)], list(by_title), lambda axis, _, column: panel(axis, by_title[column], None))


def iterate(rows):
    nodes = sorted({int(has["nodes"]) for has, _ in rows.find("E3")})
    series = sorted({(has["layout"], has["by"]) for has, _ in rows.find("E3")}, key=lambda s: LAYOUTS.index(s[0]))

    def panel(axis, metric, _):
        draw(axis, nodes, [("%s by %s" % (layout, by), COLOURS[layout], "--" if by == "slots" else "-",
                            [rows.value("E3", metric[1], layout=layout, by=by, nodes=n, placement="pmem")
                             for n in nodes])
                           for layout, by in series])
        axis.set_xlabel("nodes of 1 KiB", fontsize=8)
    return transposed([("measured here, ns an entry", TIME, 1), ("modelled: Optane idle, ns an entry", OPTANE[1], 1),
                       ("lines read, an entry", "lines_read", 1)], panel)


def change(rows, experiment):
    return grid([MEASURED, LOADED, MODIFIED, WRITTEN], POSITIONS, by_size(
        rows, lambda metric, size, column, v: rows.value(experiment, metric, node=size, position=column,
                                                         atomicity="manual", **v), layouts()))


def split(rows):
    ways = sorted({(has["layout"], has["split"]) for has, _ in rows.find("E5")}, key=lambda s: LAYOUTS.index(s[0]))
    series = [("%s, %s" % (layout, way), COLOURS[layout], DASHES.get(way, "-"), {"layout": layout, "split": way})
              for layout, way in ways]
    panel = by_size(rows, lambda metric, size, _, v: rows.value("E5", metric, node=size, atomicity="manual", **v),
                    series)
    return transposed([MEASURED, LOADED, MODIFIED, BLOCKS], panel)


def balance(rows):
    return grid([MEASURED, LOADED, MODIFIED, WRITTEN], ["left", "right"], by_size(
        rows, lambda metric, size, column, v: rows.value("E9", metric, node=size, to=column, atomicity="manual", **v),
        layouts()))


def merge(rows):
    panel = by_size(rows, lambda metric, size, _, v: rows.value("E10", metric, node=size, atomicity="manual", **v),
                    layouts())
    return transposed([MEASURED, LOADED, MODIFIED, WRITTEN], panel)


def atomicity(rows):
    """Inserts at 1 KiB, by the means of failure atomicity."""
    names = ["manual", "atomic", "pmwcas", "individual", "transaction"]

    def of_row(experiment, metric, layout, name):
        value = rows.mean(experiment, metric[1], "position", POSITIONS, layout=layout, node=1024, atomicity=name)
        return None if value is None else value * metric[2]

    def panel(axis, metric, column):
        experiment = {"insert": "E4", "erase": "E8"}[column]
        draw(axis, names, [(layout, COLOURS[layout], "-", [of_row(experiment, metric, layout, name) for name in names])
                           for layout in LAYOUTS], logarithmic=metric is MEASURED)
    return grid([MEASURED, WRITTEN], ["insert", "erase"], panel)


def performance_profile(rows):
    """Figure 14: how near each layout comes to the best one, in time and in writes."""
    panels = [("time, measured here", TIME, OPERATIONS), ("time, modelled: Optane idle", OPTANE[1], OPERATIONS),
              ("time, modelled: Optane loaded", LOADED[1], OPERATIONS),
              ("lines written", "lines_written", ["insert", "erase", "split", "balance", "merge"])]
    figure, axes = plt.subplots(1, len(panels), figsize=(17, 3.4))
    for axis, (title, metric, operations) in zip(axes, panels):
        scores = profile(rows, metric, operations)
        values = [[scores[layout].get(operation, float("nan")) for operation in operations] for layout in LAYOUTS]
        axis.imshow(values, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
        axis.set_xticks(range(len(operations)), operations, fontsize=8, rotation=40)
        axis.set_yticks(range(len(LAYOUTS)), LAYOUTS if axis is axes[0] else [""] * len(LAYOUTS), fontsize=8)
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                axis.text(j, i, "%.2f" % value, ha="center", va="center", fontsize=8)
        axis.set_title(title, fontsize=9)
    figure.tight_layout()
    return svg(figure)
