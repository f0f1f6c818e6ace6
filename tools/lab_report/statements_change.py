"""The paper's statements on changes within a node: insert (section 5.3), erase (5.4)."""
from judge import COUNTS, MODEL, Statement
from rows import LAYOUTS, MODELLED, POSITIONS

LOADED = MODELLED + "optane_loaded"
OTHERS = [layout for layout in LAYOUTS if layout != "sorted"]


def change(rows, experiment, metric, layout, size, position=None):
    """Of an insert (E4) or erase (E8), in place, at a position or the mean of all three."""
    positions = POSITIONS if position is None else [position]
    return rows.mean(experiment, metric, "position", positions, layout=layout, node=size, atomicity="manual")


def changes(experiment, left, right, metric, position=None, size_min=0, size_max=1 << 30):
    """Each node size is a pair."""
    return lambda rows: [("%d B" % size, change(rows, experiment, metric, left, size, position),
                          change(rows, experiment, metric, right, size, position))
                         for size in rows.sizes() if size_min <= size <= size_max]


def each_of(experiment, lefts, rights, metric, position=None, size_min=0):
    return lambda rows: [("%d B, %s, %s" % (size, left, right), change(rows, experiment, metric, left, size, position),
                          change(rows, experiment, metric, right, size, position))
                         for size in rows.sizes() if size >= size_min for left in lefts for right in rights]


def times(pairs, factor):
    """The pairs with their left figure multiplied."""
    return lambda rows: [(label, None if left is None else left * factor, right) for label, left, right in pairs(rows)]


def same_bytes_everywhere(rows):
    return [("%d B" % size, change(rows, "E8", "bytes_modified", "unsorted", size, "first"),
             change(rows, "E8", "bytes_modified", "unsorted", size, "middle")) for size in rows.sizes()]


def grows_with_search_structure(rows):
    sizes = [size for size in rows.sizes() if size in (1024, 4096)]
    values = [change(rows, "E8", "lines_written", "indirection", size, "first") for size in sizes]
    return [("1 KiB, 4 KiB", *values)] if len(values) == 2 else []


def last_is_as_good(rows):
    return [("%d B" % size, change(rows, "E8", "lines_written", "sorted", size, "last"),
             change(rows, "E8", "lines_written", "bitmap", size, "last")) for size in rows.sizes()]


STATEMENTS = [
    Statement("E4.1", "5.3", "Insert: sorted is the poorest, for entries have to move", COUNTS,
              "lines written by each other layout and by sorted, first key", "<",
              each_of("E4", OTHERS, ["sorted"], "lines_written", "first"),
              "in a node of 256 B there is little to move"),
    Statement("E4.2", "5.3", "Sorted keeps up in small nodes", COUNTS,
              "lines written by sorted and by hashing in nodes of 256 B; mean of positions", "about",
              changes("E4", "sorted", "hashing", "lines_written", size_max=256)),
    Statement("E4.3", "5.3", "But not in nodes from 1 KiB on: significantly worse", COUNTS,
              "twice the lines that hashing writes, and sorted; mean of positions", "<",
              times(changes("E4", "hashing", "sorted", "lines_written", size_min=1024), 2)),
    Statement("E4.4", "5.3", "Unsorted almost always performs best", MODEL,
              "modelled time (Optane loaded) of unsorted and of each other layout; mean of positions", "<=",
              each_of("E4", ["unsorted"], ["sorted", "bitmap", "indirection", "hashing"], LOADED),
              "in a node of 256 B sorted writes as few lines, and fewer where the key is the last"),
    Statement("E4.5", "5.3", "Of the layouts made for PMem, indirection performs worst", MODEL,
              "modelled time (Optane loaded) of unsorted, bitmap, hashing and of indirection; first key", "<=",
              each_of("E4", ["unsorted", "bitmap", "hashing"], ["indirection"], LOADED, "first")),
    Statement("E4.6", "5.3", "Indirection's writes are on a much finer granularity than sorted's", COUNTS,
              "four times the bytes that indirection modifies, and sorted; first key, from 1 KiB on", "<",
              times(changes("E4", "indirection", "sorted", "bytes_modified", "first", size_min=1024), 4)),
    Statement("E4.7", "5.3", "The unsorted variants perform about equally well", COUNTS,
              "lines written by unsorted and by bitmap, hashing; mean of positions", "about",
              each_of("E4", ["unsorted"], ["bitmap", "hashing"], "lines_written"),
              "three lines and four: fingerprints are on a line of their own, so hashing writes one more"),
    Statement("E8.1", "5.4", "Erase: the bitmap performs best in all cases", COUNTS,
              "lines written by bitmap and by each other layout; mean of positions", "<=",
              each_of("E8", ["bitmap"], ["sorted", "unsorted", "indirection", "hashing"], "lines_written")),
    Statement("E8.2", "5.4", "Hashing is directly below it, for the algorithm is the same", COUNTS,
              "lines written by hashing and by bitmap", "about", changes("E8", "hashing", "bitmap", "lines_written")),
    Statement("E8.3", "5.4", "Indirection is only a little slower: it shifts its slots", COUNTS,
              "lines written by indirection and twice those of bitmap; first key", "<=",
              lambda rows: [(label, left, None if right is None else 2 * right) for label, left, right in
                            changes("E8", "indirection", "bitmap", "lines_written", "first")(rows)],
              "slots that are shifted are on lines of their own"),
    Statement("E8.4", "5.4", "Indirection costs more where its search structure outgrows a line", COUNTS,
              "lines written by indirection in nodes of 1 KiB and of 4 KiB; first key", "<",
              grows_with_search_structure),
    Statement("E8.5", "5.4", "In unsorted nodes, the same number of bytes is changed wherever the key is", COUNTS,
              "bytes modified for the first and for the middle key", "about", same_bytes_everywhere),
    Statement("E8.6", "5.4", "Sorted is not appropriate: it costs way too many writes and flushes", COUNTS,
              "four times the lines that bitmap writes, and sorted; first key, from 1 KiB on", "<",
              times(changes("E8", "bitmap", "sorted", "lines_written", "first", size_min=1024), 4)),
    Statement("E8.7", "5.4", "Only when the entry is at the end, sorted can keep up", COUNTS,
              "lines written by sorted and by bitmap for the last key", "about", last_is_as_good),
]
