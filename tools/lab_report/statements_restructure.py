"""The paper's statements on several nodes at once: split (section 5.3), balance and merge (5.4)."""
from judge import COUNTS, TIMES, Statement
from rows import TIME


def of_split(rows, metric, layout, size, how="move"):
    return rows.value("E5", metric, layout=layout, split=how, node=size, atomicity="manual")


def of_balance(rows, metric, layout, size, to=None):
    return rows.mean("E9", metric, "to", [to] if to else ["left", "right"], layout=layout, node=size,
                     atomicity="manual")


def of_merge(rows, metric, layout, size):
    return rows.value("E10", metric, layout=layout, node=size, atomicity="manual")


def compare(operation, metric, lefts, rights, size_min=0, left_times=1, **variables):
    """A pair for each node size and two layouts."""
    def pairs(rows):
        found = []
        for size in rows.sizes():
            if size < size_min:
                continue
            for left in lefts:
                for right in rights:
                    figure = operation(rows, metric, left, size, **variables)
                    found.append(("%d B, %s, %s" % (size, left, right), figure and left_times * figure,
                                  operation(rows, metric, right, size, **variables)))
        return found
    return pairs


def move_and_copy(metric, left, right, layouts):
    """Pairs of the two ways to split."""
    return lambda rows: [("%d B, %s" % (size, layout), of_split(rows, metric, layout, size, left),
                          of_split(rows, metric, layout, size, right)) for size in rows.sizes() for layout in layouts]


def both_directions(rows):
    return [("%d B, %s" % (size, layout), of_balance(rows, "lines_written", layout, size, "left"),
             of_balance(rows, "lines_written", layout, size, "right"))
            for size in rows.sizes() for layout in ("sorted", "unsorted", "bitmap", "indirection", "hashing")]


def of_allocation(rows, metric, size, by):
    return rows.value("E5-allocation", metric, by=by, node=size)


def split_and_allocation(rows):
    found = []
    for size in rows.sizes():
        for layout in ("sorted", "unsorted", "bitmap", "indirection", "hashing"):
            split = of_split(rows, TIME, layout, size)
            found.append(("%d B, %s" % (size, layout), None if split is None else 4 * split,
                          of_allocation(rows, TIME, size, "libpmemobj")))
    return found


ALLOCATION = ("a split grows with the node and an allocation does not, and the two fences of one are nearly free on DRAM: "
              "here it is from a third of a split (4 KiB) to two thirds (256 B)")
QUICKSELECT = "a quickselect finds all entries that move at once here; the paper searches before each move"
BATCHES = ("entries move as a batch here: a search structure is written once, not once for each entry that moves")

BITMAPS = ["indirection", "hashing", "bitmap"]

STATEMENTS = [
    Statement("E5.1", "5.3", "Split: the move variant writes less than the copy variant", COUNTS,
              "lines written by move and by copy", "<", move_and_copy("lines_written", "move", "copy", BITMAPS)),
    Statement("E5.2", "5.3", "With a bitmap, copying is faster than moving", TIMES, "time of copy and of move", "<",
              move_and_copy(TIME, "copy", "move", BITMAPS),
              "in a node of 256 B there is little to copy; the times are nearly alike"),
    Statement("E5.3", "5.3", "A split of a sorted node is faster than one of an unsorted node", TIMES,
              "time of sorted and of unsorted, bitmap, hashing (move)", "<",
              compare(of_split, TIME, ["sorted"], ["unsorted", "bitmap", "hashing"])),
    Statement("E5.4", "5.3", "Indirection with move behaves like sorted", COUNTS,
              "lines written by indirection and by sorted (move)", "about",
              compare(of_split, "lines_written", ["indirection"], ["sorted"]),
              "three lines more, for slots and bitmaps, weigh in a small node"),
    Statement("E5.5", "5.3", "Bitmap and hashing show the same performance", COUNTS,
              "lines written by hashing and by bitmap (move)", "about",
              compare(of_split, "lines_written", ["hashing"], ["bitmap"])),
    Statement("E5.6", "5.3", "Around 80 % of a split is the allocation of the new node", TIMES,
              "four times the time of a split (move) into a node that is there, and an allocation by libpmemobj", "about",
              split_and_allocation, ALLOCATION),
    Statement("E9.1", "5.4", "Balance: the two directions write about the same", COUNTS,
              "lines written to the left and to the right", "about", both_directions,
              "a sorted node shifts its own entries on one side only"),
    Statement("E9.2", "5.4", "Sorted nodes are balanced faster than the others", TIMES,
              "time of sorted and of unsorted, bitmap, hashing", "<",
              compare(of_balance, TIME, ["sorted"], ["unsorted", "bitmap", "hashing"]), QUICKSELECT),
    Statement("E9.3", "5.4", "In large nodes sorted is nearly four times faster than hashing", TIMES,
              "three times sorted, and hashing, from 4 KiB on", "<",
              compare(of_balance, TIME, ["sorted"], ["hashing"], size_min=4096, left_times=3),
              QUICKSELECT),
    Statement("E9.4", "5.4", "The bytes written do not show in the time: sorted writes no less than hashing", COUNTS,
              "bytes modified by hashing and by sorted", "<=",
              compare(of_balance, "bytes_modified", ["hashing"], ["sorted"])),
    Statement("E9.5", "5.4", "Indirection writes less than sorted: keys and values are appended", COUNTS,
              "bytes modified by indirection and by sorted", "<",
              compare(of_balance, "bytes_modified", ["indirection"], ["sorted"])),
    Statement("E10.1", "5.4", "Merge: sorted and unsorted proceed exactly the same", COUNTS,
              "lines written by sorted and by unsorted", "about",
              compare(of_merge, "lines_written", ["sorted"], ["unsorted"])),
    Statement("E10.2", "5.4", "They perform better than the layouts with search structures", COUNTS,
              "lines written by sorted and by bitmap, indirection, hashing", "<=",
              compare(of_merge, "lines_written", ["sorted"], ["bitmap", "indirection", "hashing"])),
    Statement("E10.3", "5.4", "In time, too", TIMES, "time of sorted and of bitmap, indirection, hashing", "<",
              compare(of_merge, TIME, ["sorted"], ["bitmap", "indirection", "hashing"]), BATCHES),
    Statement("E10.4", "5.4", "Hashing writes more lines than bitmap in larger nodes", COUNTS,
              "lines written by bitmap and by hashing, from 1 KiB on", "<",
              compare(of_merge, "lines_written", ["bitmap"], ["hashing"], size_min=1024)),
    Statement("E10.5", "5.4", "Bitmap and indirection have almost the same performance", COUNTS,
              "lines written by bitmap and by indirection", "about",
              compare(of_merge, "lines_written", ["bitmap"], ["indirection"])),
    Statement("E10.6", "5.4", "Hashing takes four times as long as sorted and unsorted", TIMES,
              "three times sorted, and hashing, from 1 KiB on", "<",
              compare(of_merge, TIME, ["sorted"], ["hashing"], size_min=1024, left_times=3), BATCHES),
]
