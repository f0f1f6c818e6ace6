"""The paper's statements on primitives as a whole: profiles and insights (sections 5.5 and 6)."""
from judge import COUNTS, MODEL, TIMES, Statement
from rows import LAYOUTS, MODELLED, TIME
from statements_change import change
from statements_read import hybrid_is_less, search
from statements_restructure import of_allocation, of_balance, of_merge, of_split

OPTANE = MODELLED + "optane_idle"
LOADED = MODELLED + "optane_loaded"
PAPERS = [layout for layout in LAYOUTS if layout != "counted_hashing"]
NODE = 1024
LINE_SAVED = ("a bitmap alone saves an insert the line of the fingerprints; in nodes of 1 KiB and less that is more "
              "than the lines of keys that fingerprints save a search")


def total(*values):
    return None if None in values else sum(values)


def basic(rows, metric, layout, size):
    """A search, an insert and an erase."""
    return total(search(rows, metric, layout, size), change(rows, "E4", metric, layout, size),
                 change(rows, "E8", metric, layout, size))


def restructuring(rows, metric, layout, size):
    """A split, a balance and a merge."""
    return total(of_split(rows, metric, layout, size), of_balance(rows, metric, layout, size),
                 of_merge(rows, metric, layout, size))


def best(work, metric, winners, others, sizes=None):
    return lambda rows: [("%d B, %s, %s" % (size, winner, other), work(rows, metric, winner, size),
                          work(rows, metric, other, size))
                         for size in (sizes or rows.sizes()) for winner in winners for other in others
                         if winner != other]


def modifying_writes(rows, metric, layout, size):
    return total(change(rows, "E4", metric, layout, size), change(rows, "E8", metric, layout, size))


def by_atomicity(metric, less, more, layouts, factor=1):
    """Inserts in a node of 1 KiB, by two persisters."""
    def pairs(rows):
        found = []
        for layout in layouts:
            values = [rows.mean("E4", metric, "position", ["first", "middle", "last"], layout=layout, node=NODE,
                                atomicity=atomicity) for atomicity in (less, more)]
            found.append((layout, values[0] and factor * values[0], values[1]))
        return found
    return pairs


def an_entry_of_small_nodes(rows):
    """What an operation costs in the best node of 256 B to 1 KiB, beside larger ones."""
    costs = {size: basic(rows, OPTANE, "hashing", size) for size in rows.sizes()}
    if None in costs.values() or not costs:
        return []
    small = min(cost for size, cost in costs.items() if size <= 1024)
    return [("%d B" % size, small, cost) for size, cost in costs.items() if size > 1024]


def insert_and_allocation(rows):
    return [("%d B" % size, change(rows, "E4", "fences", "hashing", NODE),
             of_allocation(rows, "fences", size, "libpmemobj")) for size in rows.sizes()]


STATEMENTS = [
    Statement("P.1", "5.5", "Sorted takes the most writes and flushes when nodes are modified", COUNTS,
              "lines written by an insert and an erase, of each other layout and of sorted; from 1 KiB on", "<",
              lambda rows: best(modifying_writes, "lines_written", [p for p in PAPERS if p != "sorted"], ["sorted"],
                                [size for size in rows.sizes() if size >= 1024])(rows)),
    Statement("P.2", "5.5", "Unsorted significantly improves search, insert and erase", MODEL,
              "modelled time (Optane loaded) of the three together, unsorted and sorted", "<",
              best(basic, LOADED, ["unsorted"], ["sorted"])),
    Statement("P.3", "5.5", "Restructuring costs considerably more where nodes are unsorted", TIMES,
              "time of split, balance and merge together, sorted and unsorted", "<",
              best(restructuring, TIME, ["sorted"], ["unsorted"]),
              "a quickselect finds what moves, so that the order saves little in small nodes"),
    Statement("P.4", "5.5", "Indirection delivers almost the same restructuring as sorted, with less writes", COUNTS,
              "bytes modified by split, balance and merge together, indirection and sorted", "<",
              best(restructuring, "bytes_modified", ["indirection"], ["sorted"])),
    Statement("P.5", "5.5", "Hashing is the best package where there is little restructuring and scanning", MODEL,
              "modelled time (Optane idle) of search, insert and erase together, hashing and each other layout", "<=",
              best(basic, OPTANE, ["hashing"], PAPERS),
              LINE_SAVED),
    Statement("P.6", "5.5", "The bare bitmap behaves similarly to hashing", MODEL,
              "modelled time (Optane idle) of search, insert and erase together, hashing and bitmap", "about",
              best(basic, OPTANE, ["hashing"], ["bitmap"]),
              "in large nodes its linear search reads many lines of keys"),
    Statement("I.1", "6", "Hashing with 1 KiB is to be proposed for data nodes", MODEL,
              "modelled time (Optane idle) of search, insert and erase together at 1 KiB, hashing and the others", "<=",
              best(basic, OPTANE, ["hashing"], PAPERS, [NODE]), LINE_SAVED),
    Statement("I.2", "6", "A hybrid of DRAM and PMem is highly recommended", COUNTS,
              "PMem blocks read on the way to a leaf, inner nodes in DRAM and in PMem", "<",
              hybrid_is_less("blocks_read")),
    Statement("I.3", "6", "PMDK transactions add a tremendous overhead", MODEL,
              "twice the modelled time (Optane idle) of an insert without failure atomicity, and in a transaction", "<",
              by_atomicity(OPTANE, "manual", "transaction", PAPERS, 2)),
    Statement("I.4", "6", "Individual failure atomicity is cheaper than a transaction", COUNTS,
              "lines written by an insert, individual and transaction", "<",
              by_atomicity("lines_written", "individual", "transaction", PAPERS)),
    Statement("I.5", "6", "Copy-on-write should be avoided", COUNTS,
              "lines written by an insert in place, and by one that puts a changed copy in place (atomic)", "<",
              by_atomicity("lines_written", "manual", "atomic", ["sorted", "indirection"])),
    Statement("I.6", "6", "Jumping between lines that are not in sequence is expensive", TIMES, "-",
              reason="counts and model know blocks, but not what follows what, and DRAM's row buffers are not PMem's; "
                     "see E3.3 for what can be timed"),
    Statement("I.7", "6", "Allocations are expensive in PMem: better in groups", COUNTS,
              "fences of an insert into a node of 1 KiB (hashing), and of an allocation by libpmemobj, of each node size; "
              "one from a group stores nothing", "<=", insert_and_allocation),
    Statement("I.8", "6", "The best node is between 256 B and 1 KiB", MODEL,
              "modelled time (Optane idle) of search, insert and erase together, hashing: the best such node and each "
              "larger one", "<=", an_entry_of_small_nodes),
    Statement("I.9", "6", "Search structures should not grow beyond a line", COUNTS,
              "lines read by hash probing in nodes of 256 B and of 4 KiB; mean of positions", "<",
              lambda rows: [("256 B, 4 KiB", search(rows, "lines_read", "hashing", 256),
                             search(rows, "lines_read", "hashing", 4096))]),
]
