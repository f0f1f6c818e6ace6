"""Charts of E6 and E7, from the rows of lsm_experiments."""
from charts import COLOURS, byte_name, draw, grid

MEMTABLE_COLOURS = {"sorted": COLOURS["sorted"], "hash": COLOURS["hashing"]}
DASHES = {"atomic": "-", "individual": "--", "transaction": ":"}
ORDER_COLOURS = {"kway": COLOURS["sorted"], "2way-materialized": COLOURS["unsorted"],
                 "2way-streaming": COLOURS["bitmap"]}


def together(row):
    return row["fill_ns_per_entry"] + row["ns_per_entry"]


def move(rows):
    """Figure 9: filling, moving, both; nanoseconds an entry over the node's size."""
    rows = [row for row in rows if row["experiment"] == "E6"]
    sizes = sorted({row["node_bytes"] for row in rows})
    values = {"fill the memtable": lambda row: row["fill_ns_per_entry"], "move": lambda row: row["ns_per_entry"],
              "fill and move": together}

    def panel(axis, _, column):
        series = []
        for memtable in sorted({row["memtable"] for row in rows}):
            for atomicity in DASHES:
                by_size = {row["node_bytes"]: values[column](row) for row in rows
                           if row["memtable"] == memtable and row["atomicity"] == atomicity}
                series.append(("%s, %s" % (memtable, atomicity), MEMTABLE_COLOURS[memtable], DASHES[atomicity],
                               [by_size.get(size) for size in sizes]))
        draw(axis, sizes, series, [byte_name(size) for size in sizes])
        axis.tick_params(axis="x", rotation=60)
    return grid([("ns an entry, measured here", None, 1)], list(values), panel)


def merge(rows):
    """Figure 10: direct and buffered, without and with duplicates; nanoseconds an entry read."""
    rows = [row for row in rows if row["experiment"] == "E7"]
    sizes = sorted({row["node_bytes"] for row in rows})
    cases = {"%s, %d %% duplicates" % (destination, percent): (destination, percent)
             for destination in ("direct", "buffered") for percent in (0, 100)}

    def panel(axis, metric, column):
        destination, percent = cases[column]
        series = []
        for order in ORDER_COLOURS:
            for atomicity in ("atomic", "transaction"):
                by_size = {row["node_bytes"]: row[metric[1]] * metric[2] / row["entries_read"] for row in rows
                           if row["order"] == order and row["atomicity"] == atomicity and
                           row["destination"] == destination and row["duplicates_percent"] == percent}
                series.append(("%s, %s" % (order, atomicity), ORDER_COLOURS[order], DASHES[atomicity],
                               [by_size.get(size) for size in sizes]))
        draw(axis, sizes, series, [byte_name(size) for size in sizes])
    return grid([("ns an entry, measured here", "median_us", 1000),
                 ("bytes written an entry, in lines", "line_bytes", 1)],
                list(cases), panel)
