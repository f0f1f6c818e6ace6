"""What the comparison runs: engines, the benchmarks of each, and the place that each has in published figures."""

# What each engine leaves out. Debian's RocksDB has its assertions on: a cuckoo table refuses a key of another length,
# and neither it nor a hashed plain table can be scanned.
UNORDERED = {"readseq", "seekrandom"}
ENGINES = {
    "pmlsm": set(),
    "rocksdb-sync": set(),
    "rocksdb-nowal": set(),
    "rocksdb-mmap": set(),
    "rocksdb-mmap-hash": UNORDERED,
    "rocksdb-cuckoo": UNORDERED | {"readmissing"},
    "leveldb-sync": set(),
    "lmdb": set(),
    "floor": set(),
}
# Writes without a log are not durable: their columns say so.
NOT_DURABLE = {"rocksdb-nowal", "rocksdb-mmap", "rocksdb-mmap-hash", "rocksdb-cuckoo"}
WRITES = {"fillrandom", "overwrite"}

# In this order, on one DB. Reads come before the overwrites, so that reads, scans and write amplification are those
# of one state; "settled" is waitforcompaction, nothing else.
SEQUENCE = ["fillrandom", "waitforcompaction", "readrandom", "readmissing", "readseq", "seekrandom", "overwrite",
            "waitforcompaction", "readwhilewriting", "waitforcompaction"]
# One reader and one writer, whatever --threads says.
ONE_THREAD_ONLY = {"readwhilewriting"}
COLUMNS = ["fillrandom", "overwrite", "readrandom", "readmissing", "readseq", "seekrandom", "readwhilewriting",
           "readwhilewriting-writer", "open"]

# Thousand operations a second of 5,000,000 entries of 16 + 100 bytes in tmpfs, one thread, on a machine whose floor
# wrote a record in 115 to 190 ns and read a place in 100 to 370 ns. RocksDB with a log: Debian's package.
PLACES = {
    "rocksdb-sync": {"fillrandom": 147, "overwrite": 147, "readrandom": 147, "readmissing": 763},
    "rocksdb-nowal": {"fillrandom": 482, "overwrite": 460},
    "rocksdb-mmap-hash": {"readmissing": 2743},
    "rocksdb-cuckoo": {"readrandom": 1187},
    "leveldb-sync": {"fillrandom": 302, "overwrite": 298, "readrandom": 256, "readmissing": 491},
    "lmdb": {"fillrandom": 405, "overwrite": 400, "readrandom": 918, "readmissing": 906},
}
# The middle of those ranges on a logarithmic scale: sqrt(115 * 190) and sqrt(100 * 370) ns.
PLACE_OF_FLOOR = {"fillrandom": 6765, "overwrite": 6765, "readrandom": 5199, "readmissing": 5199}
PLACE_REACHED = 0.70

MEMTABLES_MAX_BYTES = 64 << 20
RUNS_MIN_SHARE = 0.90
ANONYMOUS_MAX_SHARE = 0.25


def benchmarks(engine, threads):
    """The sequence without what the engine cannot do or this number of threads does not need."""
    left_out = ENGINES[engine] | (ONE_THREAD_ONLY if threads > 1 else set())
    sequence = [name for name in SEQUENCE if name not in left_out]
    # The longest write is compared with that of a bare log beside an equally busy thread.
    return (["appendfloor"] if engine == "pmlsm" else []) + sequence
