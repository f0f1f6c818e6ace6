#!/usr/bin/python3
"""Each rule of the comparison: a run that keeps it counts, one that breaks it is void."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import figures
import plan
import rules

NUM = 1000000
DATA_BYTES = NUM * 116


def outcome(engine, benchmark, thousands, **fields):
    row = {"benchmark": benchmark, "threads": 1, "num": NUM, "key_bytes": 16, "value_bytes": 100, "repeat": 0,
           "ops_per_sec": 1000.0 * thousands, "operations": NUM, "reads": NUM, "found": NUM, "writer_ops_per_sec": 1.0,
           "memtable_bytes": 0, "anonymous_bytes": 0, "run": {"engine": engine, "threads": 1}}
    row.update(fields)
    return row


def broken_by(*outcomes):
    engines = {o["run"]["engine"] for o in outcomes}
    return rules.check(figures.Figures(outcomes), engines, [1])


class RulesTest(unittest.TestCase):
    def expect_void(self, words, *outcomes):
        broken = broken_by(*outcomes)
        self.assertEqual(1, len(broken), broken)
        self.assertIn(words, broken[0])

    def test_a_fair_run_counts(self):
        self.assertEqual([], broken_by(
            outcome("pmlsm", "readrandom", 1000, memtable_bytes=DATA_BYTES // 20, anonymous_bytes=DATA_BYTES // 5),
            outcome("pmlsm", "readmissing", 1000, found=0), outcome("pmlsm", "readseq", 9000),
            outcome("lmdb", "readrandom", 918), outcome("floor", "readrandom", plan.PLACE_OF_FLOOR["readrandom"]),
            outcome("floor", "readmissing", plan.PLACE_OF_FLOOR["readmissing"])))

    def test_reads_that_find_too_few_are_void(self):
        self.expect_void("readrandom found 999999", outcome("lmdb", "readrandom", 918, found=NUM - 1))

    def test_missing_keys_that_are_found_are_void(self):
        self.expect_void("readmissing found 1 ", outcome("lmdb", "readmissing", 906, found=1))

    def test_a_scan_that_ends_early_is_void(self):
        self.expect_void("readseq saw 999999", outcome("lmdb", "readseq", 9000, operations=NUM - 1))

    def test_memtables_larger_than_allowed_are_void(self):
        row = outcome("pmlsm", "readrandom", 1000, num=100 * NUM, memtable_bytes=plan.MEMTABLES_MAX_BYTES + 1)
        self.expect_void("must be 0 to 67108864", row)

    def test_more_than_a_tenth_in_memtables_is_void(self):
        self.expect_void("in memtables when reads start",
                         outcome("pmlsm", "readrandom", 1000, memtable_bytes=DATA_BYTES // 10 + 1))

    def test_more_anonymous_memory_than_a_quarter_of_the_data_is_void(self):
        self.expect_void("anonymous memory", outcome("pmlsm", "readrandom", 1000, anonymous_bytes=DATA_BYTES // 4 + 1))

    def test_a_peer_below_its_place_is_void_on_a_slower_machine_as_well(self):
        for speed in (1, 0.5):
            floor = outcome("floor", "fillrandom", speed * plan.PLACE_OF_FLOOR["fillrandom"])
            self.assertEqual([], broken_by(floor, outcome("lmdb", "fillrandom", speed * 0.71 * 405)))
            self.expect_void("lmdb: fillrandom", floor, outcome("lmdb", "fillrandom", speed * 0.69 * 405))

    def test_the_median_of_the_repeats_decides(self):
        floor = outcome("floor", "fillrandom", plan.PLACE_OF_FLOOR["fillrandom"])
        repeats = [outcome("lmdb", "fillrandom", thousands) for thousands in (1, 405, 405)]
        self.assertEqual([], broken_by(floor, *repeats))


if __name__ == "__main__":
    unittest.main()
