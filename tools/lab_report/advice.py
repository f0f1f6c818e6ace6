"""The recommendation: which layout, search, node size and failure atomicity suits a described workload."""
import math
from dataclasses import dataclass

from costs import NODE, OPERATIONS, cost, search, searches_of
from rows import LAYOUTS, MODELLED, TIME

# Entries of 24 bytes that a node holds, aligned; with a search structure (the paper's Table 4).
CAPACITY = {256: (8, 8), 512: (18, 18), 1024: (40, 37), 2048: (82, 79), 4096: (168, 160)}
WITH_SEARCH_STRUCTURE = {"indirection", "hashing", "counted_hashing"}
LEVELS_MEASURED = 5
# Those that make every change all or nothing.
ATOMICITIES = ["transaction", "individual", "atomic", "pmwcas"]


@dataclass
class Workload:
    """Shares of operations, any numbers of which the sum counts; a scan reads so many entries."""
    search: float = 50
    insert: float = 40
    erase: float = 5
    scan: float = 5
    scan_entries: int = 100
    records: int = 50000000
    inner: str = "dram"  # or "pmem"
    device: str = "optane_idle"  # whose modelled time counts; "this machine": measured time

    def metric(self):
        return TIME if self.device == "this machine" else MODELLED + self.device


@dataclass
class Choice:
    layout: str
    search: str
    node: int
    levels: int
    cost: float  # ns of an average operation


def capacity(layout, size):
    return CAPACITY[size][layout in WITH_SEARCH_STRUCTURE]


def levels_of(workload, layout, size):
    """Of inner nodes, which are sorted and as large as leaves."""
    leaves = workload.records / capacity(layout, size)
    return max(1, math.ceil(math.log(max(leaves, 2)) / math.log(capacity("sorted", size))))


def traverse(rows, workload, levels):
    """Levels beyond those that were measured cost what a level costs on average."""
    def at(depth):
        return rows.value("E2", workload.metric(), levels=depth, inner=workload.inner)
    if at(1) is None or at(LEVELS_MEASURED) is None:
        return None
    return at(1) + (levels - 1) * (at(LEVELS_MEASURED) - at(1)) / (LEVELS_MEASURED - 1)


def of_choice(rows, workload, layout, method, size, atomicity="manual"):
    """What an average operation takes, or None: on its way it traverses inner nodes, searching each, and the leaf. A
    leaf that fills is split, one that empties is balanced or merged: each every half a node of inserts or erases."""
    metric = workload.metric()
    levels = levels_of(workload, layout, size)
    inner_search = search(rows, metric, "sorted", size, placement=workload.inner)
    parts = {operation: cost(rows, metric, operation, layout, size, method, atomicity)
             for operation in OPERATIONS}
    way = traverse(rows, workload, levels)
    if None in parts.values() or way is None or inner_search is None:
        return None
    find = way + levels * inner_search + parts["search"]
    half = capacity(layout, size) / 2
    total = workload.search + workload.insert + workload.erase + workload.scan
    return Choice(layout, method, size, levels, (
        total * find + workload.insert * (parts["insert"] + parts["split"] / half) +
        workload.erase * (parts["erase"] + (parts["balance"] + parts["merge"]) / 2 / half) +
        workload.scan * workload.scan_entries * parts["iterate"]) / total)


def choices(rows, workload):
    """All that were measured, the best first."""
    found = [of_choice(rows, workload, layout, method, size)
             for layout in LAYOUTS for method in searches_of(layout) for size in rows.sizes()]
    return sorted((choice for choice in found if choice), key=lambda choice: choice.cost)


def atomicities(rows, workload, layout):
    """(name, ns of an insert and an erase) at 1 KiB, the best first. What libpmemobj writes for its logs is counted."""
    found = []
    for atomicity in ATOMICITIES:
        parts = [cost(rows, workload.metric(), operation, layout, NODE, None, atomicity)
                 for operation in ("insert", "erase")]
        if None not in parts:
            found.append((atomicity, sum(parts)))
    return sorted(found, key=lambda each: each[1])
