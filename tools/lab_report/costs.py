"""What an operation costs with a choice of primitives: from the rows, so that profile and recommendation agree."""
from rows import ITERATED_BY, LAYOUTS, POSITIONS, SEARCHES

NODE = 1024  # the size that the paper recommends, and that E3 and the rows of failure atomicity have
OPERATIONS = ["search", "insert", "erase", "iterate", "split", "balance", "merge"]


def searches_of(layout):
    """The searches that a layout was measured with."""
    return [SEARCHES[layout]] + (["interpolation", "exponential"] if layout == "sorted" else [])


def search(rows, metric, layout, size, method=None, placement="pmem"):
    return rows.mean("E1", metric, "position", POSITIONS, layout=layout, search=method or SEARCHES[layout], node=size,
                     placement=placement, cache="cold")


def change(rows, experiment, metric, layout, size, atomicity="manual"):
    return rows.mean(experiment, metric, "position", POSITIONS, layout=layout, node=size, atomicity=atomicity)


def iterate(rows, metric, layout):
    """Per entry, in the longest chain."""
    chains = [int(has["nodes"]) for has, _ in rows.find("E3", layout=layout)]
    return rows.value("E3", metric, layout=layout, by=ITERATED_BY[layout], nodes=max(chains), placement="pmem") \
        if chains else None


def split(rows, metric, layout, size, atomicity="manual"):
    """The better way to split."""
    ways = [rows.value("E5", metric, layout=layout, split=way, node=size, atomicity=atomicity)
            for way in ("move", "copy")]
    ways = [way for way in ways if way is not None]
    return min(ways) if ways else None


def cost(rows, metric, operation, layout, size=NODE, method=None, atomicity="manual"):
    """Of one operation, the mean of its positions and directions; None if it was not measured."""
    if operation == "search":
        return search(rows, metric, layout, size, method)
    if operation == "insert":
        return change(rows, "E4", metric, layout, size, atomicity)
    if operation == "erase":
        return change(rows, "E8", metric, layout, size, atomicity)
    if operation == "iterate":
        return iterate(rows, metric, layout)
    if operation == "split":
        return split(rows, metric, layout, size, atomicity)
    if operation == "balance":
        return rows.mean("E9", metric, "to", ["left", "right"], layout=layout, node=size, atomicity=atomicity)
    return rows.value("E10", metric, layout=layout, node=size, atomicity=atomicity)


def profile(rows, metric, operations):
    """Figure 14: for each layout and operation the best layout's cost over its own, so that 1 is the best there is."""
    scores = {layout: {} for layout in LAYOUTS}
    for operation in operations:
        found = {layout: cost(rows, metric, operation, layout) for layout in LAYOUTS}
        found = {layout: value for layout, value in found.items() if value is not None}
        best = min(found.values()) if found else None
        for layout, value in found.items():
            scores[layout][operation] = best / value if value else 1.0
    return scores
