"""The report: one HTML file that loads nothing from elsewhere."""
import html

import advice
import charts
import judge
import lsm_charts

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Data structure primitives on persistent memory</title><style>
body { font-family: sans-serif; margin: 2em auto; max-width: 1200px; color: #222; line-height: 1.4; }
table { border-collapse: collapse; font-size: 13px; }
th, td { border: 1px solid #ccc; padding: 3px 7px; text-align: left; vertical-align: top; }
figure { margin: 1em 0; } svg { max-width: 100%; height: auto; }
.modelled { background: #fff5d6; border-left: 4px solid #d08a1d; padding: .5em 1em; }
.holds { background: #dff0df; } .part { background: #fff5d6; }
.not { background: #fbe3e4; } .unseen { background: #eee; }
details { font-size: 12px; color: #555; } code { background: #f4f4f4; }
</style></head><body>
<h1>Data structure primitives on persistent memory</h1>
<p>The experiments E1 to E10 of G&ouml;tze et al., &ldquo;Data Structure Primitives on Persistent Memory: An
Evaluation&rdquo;, repeated on the primitives of this library. Keys of 8 bytes, values of 16.</p>
"""
MODEL_NOTE = """<div class="modelled"><b>Modelled</b> times are not measured: they are the exact counts of lines, blocks
and fences, each multiplied by what a device takes for it, one after the other. They compare choices on one device; they
do not foretell throughput. Optane is the paper's Table 1, at its least (&ldquo;idle&rdquo;: a read 175 ns, a write 100
ns) and at its most (&ldquo;loaded&rdquo;: 400 ns, 2 us). <b>Measured</b> times are this machine's.</div>
"""
CLASSES = {judge.HOLDS: "holds", judge.IN_PART: "part", judge.NOT: "not", judge.UNSEEN: "unseen",
           judge.NOT_MEASURED: "unseen"}
CHOICES_SHOWN = 8


def table(head, lines):
    """Cells are HTML already; a line may be (class, cells)."""
    parts = ["<table><tr>%s</tr>\n" % "".join("<th>%s</th>" % cell for cell in head)]
    for css, cells in lines:
        parts.append('<tr class="%s">%s</tr>\n' % (css, "".join("<td>%s</td>" % cell for cell in cells)))
    return "".join(parts) + "</table>\n"


def setting(rows):
    times, counts = rows.contexts["times"], rows.contexts["counts"]
    facts = [("medium", times["medium"]), ("delays", times["delays"]),
             ("nodes that a row visits at random", "%d MiB" % (int(times["instances_bytes"]) >> 20)),
             ("operations of a row", "%s timed, %s counted" % (times["operations"], counts["operations"])),
             ("CPUs", "%d, of %d MHz" % (times["num_cpus"], times["mhz_per_cpu"])),
             ("load when the run began", "%.1f" % times["load_avg"][0] if times.get("load_avg") else "not known"),
             ("date", times["date"])]
    return table(["setting", "of this run"],
                 [("", (html.escape(name), html.escape(str(value)))) for name, value in facts])


def findings_table(verdicts):
    lines = []
    for verdict in verdicts:
        statement = verdict.statement
        of_pairs = "<br>%d of %d" % (verdict.agreeing, verdict.pairs) if verdict.pairs else ""
        reason = html.escape(statement.reason) if verdict.verdict != judge.HOLDS else ""
        figures = html.escape(verdict.figures)
        if figures:
            figures = "<details><summary>figures</summary>%s</details>" % figures
        lines.append((CLASSES[verdict.verdict], (
            statement.number, statement.section, html.escape(statement.claim), statement.basis,
            html.escape(statement.test) + figures, html.escape(verdict.verdict) + of_pairs, reason)))
    each = [(name, sum(verdict.verdict == name for verdict in verdicts)) for name in CLASSES]
    summary = ", ".join("%s: %d" % (name, count) for name, count in each if count)
    rules = "A statement holds if %d %% of the pairs that its test compares agree, in part if %d %% do; times nearer " \
            "than %d %% are no difference." % (100 * judge.HOLDS_FROM, 100 * judge.IN_PART_FROM, 100 * judge.NOISE)
    return "<p>%d statements. %s. %s</p>\n" % (len(verdicts), html.escape(summary.capitalize()), rules) + \
        table(["No.", "section", "the paper says", "judged by", "compared", "here", "why"], lines)


def recommendation(rows, workload):
    found = advice.choices(rows, workload)
    if not found:
        return "<p>Not measured.</p>\n"
    best = found[0]
    atomicities = advice.atomicities(rows, workload, best.layout)
    # Times that are near are no difference.
    named = " or ".join(name for name, nanos in atomicities if nanos <= atomicities[0][1] * (1 + judge.NOISE))
    total = workload.search + workload.insert + workload.erase + workload.scan
    parts = ["<p>Workload: %s; %d records; inner nodes in %s; times of %s.</p>\n" % (
        ", ".join("%.3g %% %s" % (100 * share / total, name) for share, name in (
            (workload.search, "searches"), (workload.insert, "inserts"), (workload.erase, "erases"),
            (workload.scan, "scans of %d entries" % workload.scan_entries))),
        workload.records, {"dram": "DRAM", "pmem": "PMem"}[workload.inner], html.escape(workload.device))]
    parts.append("<p><b>Recommended: %s nodes of %s, %s search%s.</b></p>\n" % (
        best.layout, charts.byte_name(best.node), best.search,
        ", failure atomicity by %s" % named if named else ""))
    head = ["layout", "search", "node", "levels of inner nodes", "ns of an average operation", "to the best"]
    parts.append(table(head, [
        ("", (c.layout, c.search, charts.byte_name(c.node), c.levels, "%.0f" % c.cost, "%.2f" % (c.cost / best.cost)))
        for c in found[:CHOICES_SHOWN]]))
    parts.append("<p>Failure atomicity of these nodes, by the time of an insert and an erase at 1 KiB, libpmemobj's logs "
                 "included:</p>\n")
    parts.append(table(["by", "ns"], [("", (name, "%.0f" % nanos)) for name, nanos in atomicities]))
    return "".join(parts)


def chapters(rows, lsm_rows):
    """(title, the paper's figure, chart), in the paper's order."""
    return [("E1, search in a node", 5, charts.search(rows)), ("E2, traverse a tree", "6(a)", charts.traverse(rows)),
            ("E3, iterate over nodes", "6(b)", charts.iterate(rows)),
            ("E4, insert in a node", 7, charts.change(rows, "E4")), ("E5, split a node", 8, charts.split(rows)),
            ("E6, move a node from DRAM to PMem", 9, lsm_charts.move(lsm_rows)),
            ("E7, merge a level", 10, lsm_charts.merge(lsm_rows)),
            ("E8, erase from a node", 11, charts.change(rows, "E8")),
            ("E9, balance two nodes", 12, charts.balance(rows)), ("E10, merge two nodes", 13, charts.merge(rows))]


def write(path, rows, lsm_rows, verdicts, workload):
    parts = [HEAD, setting(rows), MODEL_NOTE, "<h2>Recommendation</h2>\n", recommendation(rows, workload),
             "<h2>Performance profile (the paper's Figure 14)</h2>\n",
             "<p>The best layout's cost over that of each: 1 is the best. Nodes of 1 KiB, changed in place.</p>\n",
             charts.performance_profile(rows), "<h2>The paper's statements</h2>\n", findings_table(verdicts)]
    for title, figure, chart in chapters(rows, lsm_rows):
        parts.append("<h2>%s (Figure %s)</h2>\n%s" % (title, figure, chart))
    parts.append("<h2>Failure atomicity</h2>\n<p>Inserts (E4) and erases (E8) in nodes of 1 KiB, mean of positions; "
                 "&ldquo;manual&rdquo; has none. Lines of transactions are not known.</p>\n" + charts.atomicity(rows))
    parts.append("</body></html>\n")
    with open(path, "w") as file:
        file.write("".join(parts))
