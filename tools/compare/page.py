"""The comparison as one HTML file: bar charts, latency curves, the table. Nothing is loaded from elsewhere."""
import html
import io

import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt

import figures as figures_module
import plan

COLOURS = {
    "pmlsm": "#c1272d", "rocksdb-sync": "#0b3c6f", "rocksdb-nowal": "#2f6fb0", "rocksdb-mmap": "#5f9bd1",
    "rocksdb-mmap-hash": "#8fbde4", "rocksdb-cuckoo": "#bcd9f0", "leveldb-sync": "#3f8f4f", "lmdb": "#d08a1d",
    "floor": "#9a9a9a",
}
CURVES = ["fillrandom", "overwrite", "readrandom", "readmissing", "seekrandom", "readwhilewriting"]

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>pmlsm beside other engines</title><style>
body { font-family: sans-serif; margin: 2em auto; max-width: 1100px; color: #222; }
pre { background: #f4f4f4; padding: 1em; overflow-x: auto; font-size: 12px; }
.void { background: #fbe3e4; border-left: 4px solid #c1272d; padding: .5em 1em; }
figure { margin: 1em 0; } svg { max-width: 100%; height: auto; }
</style></head><body>
<h1>pmlsm beside other engines</h1>
"""


def svg(figure):
    """The figure as an <svg> element, without the XML head that HTML does not allow."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)
    text = buffer.getvalue()
    return "<figure>" + text[text.index("<svg"):] + "</figure>\n"


def bars(figures, engines, threads):
    """A chart a column: the median as a bar, the best as a line at its end."""
    columns = figures_module.columns(figures, engines, threads)
    rows = (len(columns) + 2) // 3
    figure, axes = plt.subplots(rows, 3, figsize=(14, 3.1 * rows), squeeze=False)
    for axis in axes.flat[len(columns):]:
        axis.set_visible(False)
    for axis, column in zip(axes.flat, columns):
        shown = [engine for engine in reversed(engines) if figures.median(engine, column, threads)]
        in_milliseconds = column == "open"
        scale = (lambda rate: 1000 / rate) if in_milliseconds else (lambda rate: rate / 1000)
        medians = [scale(figures.median(engine, column, threads)) for engine in shown]
        bests = [scale(figures.best(engine, column, threads)) for engine in shown]
        places = range(len(shown))
        axis.barh(places, medians, color=[COLOURS[engine] for engine in shown])
        axis.scatter(bests, places, marker="|", color="black", zorder=3)
        axis.set_yticks(places, [engine + (" *" if engine in plan.NOT_DURABLE else "") for engine in shown], fontsize=8)
        for place, value in zip(places, medians):
            axis.annotate("%.3g" % value if value < 1000 else "%.0f" % value, (value, place), xytext=(4, 0),
                          textcoords="offset points", va="center", fontsize=7)
        # The floor is often ten times as far away as the rest; a logarithm shows all.
        axis.set_xscale("log")
        axis.set_xlim(min(medians) / 2, max(max(medians), max(bests)) * 3)
        axis.set_title(column + (", ms (less is better)" if in_milliseconds else ", thousand/s"), fontsize=10)
    figure.tight_layout()
    return svg(figure)


def curve_of(outcomes):
    """The median over the repeats, point by point: (share of operations that are slower, microseconds)."""
    points = {}
    for outcome in outcomes:
        for percent, micros in outcome.get("latency_us", []):
            points.setdefault(percent, []).append(micros)
    curve = [(1 - percent / 100, sorted(found)[len(found) // 2]) for percent, found in sorted(points.items())]
    slowest = curve.pop()[1] if curve else None  # no operation is slower than the slowest: it has no place on a logarithm
    return curve + [(curve[-1][0] / 10, slowest)] if curve else []


def curves(figures, engines, threads):
    """How long the slowest part of the operations takes: to the right, ever fewer operations."""
    names = [name for name in CURVES if any(figures.of(engine, name, threads) for engine in engines)]
    rows = (len(names) + 1) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(14, 4 * rows), squeeze=False)
    for axis in axes.flat[len(names):]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names):
        for engine in engines:
            curve = curve_of(figures.of(engine, name, threads))
            if curve:
                axis.plot(*zip(*curve), label=engine, color=COLOURS[engine], linewidth=2 if engine == "pmlsm" else 1.2)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.invert_xaxis()
        axis.set_title(name, fontsize=10)
        axis.set_xlabel("share of operations that take longer (last point: the longest)", fontsize=8)
        axis.set_ylabel("microseconds", fontsize=8)
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    return svg(figure)


def write(path, figures, engines, thread_counts, broken, table, settings):
    parts = [HEAD]
    parts.append("<p>Bars: medians of the repeats; the tick is the best. * writes without a log, not durable. "
                 "The floor makes the memory accesses that every engine has, and nothing else.</p>\n")
    if broken:
        parts.append('<div class="void"><b>This run is void:</b><ul>%s</ul></div>\n' %
                     "".join("<li>%s</li>" % html.escape(line) for line in broken))
    for threads in thread_counts:
        parts.append("<h2>%d thread%s</h2>\n" % (threads, "s" if threads > 1 else ""))
        parts.append(bars(figures, engines, threads))
        parts.append("<h3>Latency</h3>\n" + curves(figures, engines, threads))
    parts.append("<h2>Table</h2>\n<pre>%s</pre>\n" % html.escape(table))
    parts.append("<h2>Settings</h2>\n")
    for engine in engines:
        parts.append("<h3>%s</h3>\n<pre>%s</pre>\n" % (html.escape(engine), html.escape(settings[engine])))
    parts.append("</body></html>\n")
    with open(path, "w") as file:
        file.write("".join(parts))
