"""The comparison as text: rates, ratios, and what pmlsm alone is asked."""
import figures as figures_module
import plan


def cell(value, text="%.2f"):
    return text % value if value is not None else "-"


def rows_of(title, engines, columns, value):
    """A table with a row an engine; value(engine, column) is a text."""
    widths = [max(len(c), 9) for c in columns]
    lines = ["", title, "%-19s" % "" + "  ".join(c.rjust(w) for c, w in zip(columns, widths))]
    for engine in engines:
        name = engine + (" *" if engine in plan.NOT_DURABLE else "")
        lines.append("%-19s" % name + "  ".join(value(engine, c).rjust(w) for c, w in zip(columns, widths)))
    return lines


def rates(figures, engines, threads):
    columns = figures_module.columns(figures, engines, threads)
    title = "Thousand operations a second, threads=%d: median/best (open: milliseconds)"
    def value(engine, column):
        median, best = figures.median(engine, column, threads), figures.best(engine, column, threads)
        if median is None or not median:
            return "-"
        if column == "open":
            return "%.2f/%.2f" % (1000 / median, 1000 / best)
        return "%.0f/%.0f" % (median / 1000, best / 1000)
    return rows_of(title % threads, engines, columns, value)


def ratios(figures, engines, threads):
    columns = figures_module.columns(figures, engines, threads)
    lines = []
    peers = [engine for engine in engines if engine != "pmlsm"]
    if "pmlsm" in engines and peers:
        lines += rows_of("pmlsm is so many times as fast as, threads=%d (medians)" % threads, peers, columns,
                         lambda engine, column: cell(figures.ratio("pmlsm", engine, column, threads)))
    if "floor" in engines:
        lines += rows_of("Share of the floor's rate, threads=%d (medians)" % threads,
                         [engine for engine in engines if engine != "floor"], columns,
                         lambda engine, column: cell(figures.ratio(engine, "floor", column, threads), "%.3f"))
    return lines


def scaling(figures, engines, thread_counts):
    """Rates of more threads over those of one, and the CPU time that they took of what the wall clock gave."""
    lines = []
    for threads in [t for t in thread_counts if t != 1 and 1 in thread_counts]:
        columns = [c for c in figures_module.columns(figures, engines, threads) if c not in ("open",)]
        def value(engine, column, threads=threads):
            one, more = figures.median(engine, column, 1), figures.median(engine, column, threads)
            busy = [o["cpu_seconds"] / o["seconds"] for o in figures.of(engine, column, threads) if o["seconds"] > 0]
            return "%.2f (%.1f)" % (more / one, max(busy)) if one and more and busy else "-"
        lines += rows_of("threads=%d over threads=1 (in brackets: CPUs that the process kept busy)" % threads, engines, columns,
                         value)
    return lines


def of_pmlsm_alone(figures, thread_counts):
    lines = ["", "pmlsm alone (medians)"]
    for threads in thread_counts:
        amplification = figures.write_amplification(threads)
        if amplification is not None:
            lines.append("  threads=%d: bytes at the medium for a byte of the user's, fillrandom settled: %.2f" %
                         (threads, amplification))
        for column in sorted(plan.WRITES):
            longest = figures.median_of("pmlsm", column, "max_above_floor_us", threads)
            slow = figures.median_of("pmlsm", column, "p999_us", threads)
            if longest is not None:
                lines.append("  threads=%d: longest write of %s above a bare log's: %.3f ms; P99.9 %.1f us" %
                             (threads, column, longest / 1000, slow))
    opened, bare = figures.median("pmlsm", "open"), figures.median("pmlsm", "open-bare-pool")
    if opened and bare:
        lines.append("  open after a clean close, in a fresh process: %.2f ms above a bare open of the same pool" %
                     (1000 / opened - 1000 / bare))
    anonymous = figures.median_of("pmlsm", "readrandom", "anonymous_bytes")
    if anonymous is not None:
        lines.append("  anonymous memory during reads: %.1f MiB" % (anonymous / (1 << 20)))
    return lines


def text(figures, engines, thread_counts, broken):
    lines = []
    for threads in thread_counts:
        lines += rates(figures, engines, threads) + ratios(figures, engines, threads)
    lines += scaling(figures, engines, thread_counts)
    if "pmlsm" in engines:
        lines += of_pmlsm_alone(figures, thread_counts)
    lines += ["", "* writes without a log: not durable. readwhilewriting: one reader, one unthrottled writer.", ""]
    lines += ["VOID: " + line for line in broken] or ["All rules of the comparison hold."]
    return "\n".join(lines)
