"""The paper's statements on reading: section 5.2."""
from judge import COUNTS, MODEL, TIMES, Statement
from rows import ITERATED_BY, LAYOUTS, MODELLED, POSITIONS, SEARCHES, TIME

OPTANE = MODELLED + "optane_idle"
LOADED = MODELLED + "optane_loaded"


def search(rows, metric, layout, size, position=None, cache="cold", placement="pmem"):
    """Of a search at a position, or the mean of all three."""
    positions = POSITIONS if position is None else [position]
    return rows.mean("E1", metric, "position", positions, layout=layout, search=SEARCHES[layout], node=size,
                     cache=cache, placement=placement)


def searches(left, right, metric, position=None, **place):
    """Each node size is a pair."""
    return lambda rows: [("%d B" % size, search(rows, metric, left, size, position, **place),
                          search(rows, metric, right, size, position, **place)) for size in rows.sizes()]


def levels(rows, metric, inner):
    """What each further level of inner nodes adds."""
    all_levels = sorted({int(has["levels"]) for has, _ in rows.find("E2")})
    values = [rows.value("E2", metric, levels=level, inner=inner) for level in all_levels]
    if None in values or len(values) < 2:
        return []
    return [("level %d" % all_levels[i], values[i] - values[i - 1]) for i in range(1, len(values))]


def each_level(metric, inner, expected):
    return lambda rows: [(label, added, expected) for label, added in levels(rows, metric, inner)]


def hybrid_is_less(metric):
    return lambda rows: [("%s levels" % has["levels"], rows.value("E2", metric, levels=has["levels"], inner="dram"),
                          rows.value("E2", metric, levels=has["levels"], inner="pmem"))
                         for has, _ in rows.find("E2", inner="dram")]


def iteration(rows, metric, layout, nodes, by=None):
    return rows.value("E3", metric, layout=layout, by=by or ITERATED_BY[layout], nodes=nodes, placement="pmem")


def chains(rows):
    return sorted({int(has["nodes"]) for has, _ in rows.find("E3")})


def iterations(metric, left, right, left_by=None, right_by=None):
    """Each length of the chain is a pair."""
    return lambda rows: [("%d nodes" % n, iteration(rows, metric, left, n, left_by),
                          iteration(rows, metric, right, n, right_by)) for n in chains(rows)]


def fewest_by_hashing(rows):
    return [("%d B, %s" % (size, other), search(rows, "lines_read", "hashing", size),
             search(rows, "lines_read", other, size)) for size in rows.sizes() for other in ("unsorted", "bitmap")]


def fewest_of_all_by_hashing(rows):
    return [("%d B, %s" % (size, other), search(rows, OPTANE, "hashing", size), search(rows, OPTANE, other, size))
            for size in rows.sizes() for other in LAYOUTS if not other.endswith("hashing")]


NO_PREFETCHER = ("lines side by side cost as much as scattered ones in counts and in the model; on a CPU they are "
                 "prefetched")
NEEDS_PMEM = "a time of PMem itself, which this machine does not have"

STATEMENTS = [
    Statement("E1.1", "5.2", "Of the linear searches, hashing loads the fewest cache lines", COUNTS,
              "lines read by hash probing, of linear search with and without bitmap; mean of positions", "<",
              fewest_by_hashing, "in the smallest node all keys are in one line"),
    Statement("E1.2", "5.2", "Binary search is not faster than linear search, except for keys in the middle, where "
              "they are alike", MODEL,
              "modelled time (Optane idle) of linear and of binary search for the last key", "<=",
              searches("unsorted", "sorted", OPTANE, "last"), NO_PREFETCHER),
    Statement("E1.3", "5.2", "The first key is found faster by linear search", COUNTS,
              "lines read by linear and by binary search for the first key", "<=",
              searches("unsorted", "sorted", "lines_read", "first")),
    Statement("E1.4", "5.2", "Binary search through indirection is slower than direct binary search", COUNTS,
              "lines read by direct binary search and by that through slots; mean of positions", "<",
              searches("sorted", "indirection", "lines_read"),
              "in a node of 256 B all slots, and all keys, are in one line"),
    Statement("E1.5", "5.2", "Hashing usually reads fewer lines of its search structure than indirection", COUNTS,
              "lines read by hash probing and by search through slots; mean of positions", "<",
              searches("hashing", "indirection", "lines_read"),
              "in a node of 256 B both read one line of it and one of keys"),
    Statement("E1.6", "5.2", "In DRAM, binary search is better for the middle key", TIMES,
              "time of binary search and of linear search in DRAM, cold, middle key", "<",
              searches("sorted", "unsorted", TIME, "middle", placement="dram"),
              "the position is the same in each search, so that the branches of a linear one are predicted, and "
              "searches overlap"),
    Statement("E1.7", "5.2", "Cached, binary search is better at the back, too", TIMES,
              "time of binary search and of linear search, cached, last key", "<",
              searches("sorted", "unsorted", TIME, "last", cache="cached"),
              "a node of few entries is searched either way"),
    Statement("E1.8", "5.2", "Hashing is the best choice for searching a persistent node", MODEL,
              "modelled time (Optane idle) of hash probing and of each other search; mean of positions", "<=",
              fewest_of_all_by_hashing),
    Statement("E2.1", "5.2", "Each level in PMem adds one access to PMem", COUNTS,
              "PMem blocks read that a level adds, and 1", "about", each_level("blocks_read", "pmem", 1)),
    Statement("E2.2", "5.2", "A level in DRAM adds nothing in PMem", COUNTS,
              "PMem lines read that a level in DRAM adds, and 0", "<=", each_level("lines_read", "dram", 0)),
    Statement("E2.3", "5.2", "A level in DRAM adds 50 to 100 ns", TIMES,
              "ns that a level in DRAM adds, and 75 (give or take a third)", "about",
              each_level(TIME, "dram", 75),
              "this machine's DRAM and caches are others; small trees stay in the caches"),
    Statement("E2.4", "5.2", "A level in PMem adds 400 to 500 ns, nearly double the latency of an access", TIMES,
              "-", reason=NEEDS_PMEM),
    Statement("E2.5", "5.2", "A hybrid tree is highly preferable: inner nodes in DRAM are traversed faster", MODEL,
              "modelled time (Optane loaded), inner nodes in DRAM and in PMem", "<", hybrid_is_less(LOADED)),
    Statement("E3.1", "5.2", "Iterating without a bitmap is fastest", TIMES,
              "time per entry by count (unsorted) and by bitmap", "<", iterations(TIME, "unsorted", "bitmap")),
    Statement("E3.2", "5.2", "It reads no more lines either", COUNTS,
              "lines per entry by count (unsorted) and by bitmap",
              "<=", iterations("lines_read", "unsorted", "bitmap")),
    Statement("E3.3", "5.2", "Iterating through indirection slots is worse than by bitmap", TIMES,
              "time per entry of indirection by bitmap and by slots", "<",
              iterations(TIME, "indirection", "indirection", "bitmap", "slots")),
    Statement("E3.4", "5.2", "Sorted and unsorted nodes are iterated alike", COUNTS,
              "lines per entry of sorted and of unsorted", "about", iterations("lines_read", "sorted", "unsorted")),
]
