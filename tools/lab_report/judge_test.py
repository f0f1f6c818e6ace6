#!/usr/bin/python3
"""How verdicts come about, on rows that are made up; and that the table of statements is whole."""
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import findings
import judge
import rows as rows_module


def verdict_of(relation, pairs, basis=judge.COUNTS):
    return judge.judge(judge.Statement("E1.1", "5.2", "claim", basis, "test", relation, lambda rows: pairs), None)


class JudgeTest(unittest.TestCase):
    def test_all_some_and_few_pairs_agree(self):
        right, wrong = ("right", 1, 2), ("wrong", 2, 1)
        self.assertEqual(verdict_of("<", [right] * 9 + [wrong]).verdict, judge.HOLDS)
        self.assertEqual(verdict_of("<", [right] * 8 + [wrong] * 2).verdict, judge.IN_PART)
        self.assertEqual(verdict_of("<", [right, wrong]).verdict, judge.IN_PART)
        self.assertEqual(verdict_of("<", [right] + [wrong] * 2).verdict, judge.NOT)

    def test_missing_figures_are_no_pair(self):
        self.assertEqual(verdict_of("<", [("a", None, 2), ("b", 1, None)]).verdict, judge.NOT_MEASURED)
        self.assertEqual(verdict_of("<", [("a", None, 2), ("b", 1, 2)]).pairs, 1)

    def test_relations(self):
        for relation, left, right, agrees in (("<", 1, 1, False), ("<=", 1, 1, True), ("<=", 2, 1, False),
                                              ("about", 4, 5, True), ("about", 5, 4, True), ("about", 4, 5.1, False)):
            self.assertEqual(verdict_of(relation, [("a", left, right)]).agreeing, int(agrees), (relation, left, right))

    def test_times_that_are_near_are_no_difference_but_counts_are(self):
        near = [("a", 100, 104)]
        self.assertEqual(verdict_of("<", near, judge.TIMES).agreeing, 0)
        self.assertEqual(verdict_of("<", near, judge.COUNTS).agreeing, 1)
        self.assertEqual(verdict_of("<=", [("a", 104, 100)], judge.TIMES).agreeing, 1)

    def test_figures_say_which_pair_does_not_agree(self):
        self.assertEqual(verdict_of("<", [("a", 1, 2), ("b", 2.25, 1)]).figures, "a: 1 < 2; b: 2.25 not < 1")


class StatementsTest(unittest.TestCase):
    def test_numbers_are_there_once_and_in_the_papers_order(self):
        numbers = [statement.number for statement in findings.STATEMENTS]
        self.assertEqual(len(set(numbers)), len(numbers))
        in_order = sorted(["E10.1", "I.1", "E2.1", "P.1", "E7.2s", "E7.2", "E7.3"], key=findings.place)
        self.assertEqual(in_order, ["E2.1", "E7.2", "E7.2s", "E7.3", "E10.1", "P.1", "I.1"])

    def test_what_cannot_be_seen_says_why(self):
        for statement in findings.STATEMENTS:
            self.assertTrue(statement.pairs is not None or statement.reason, statement.number)


class RowsTest(unittest.TestCase):
    def test_times_and_counts_of_a_row_come_together(self):
        rows = rows_module.Rows()
        name = "E2/levels:1/inner:pmem"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"context": {"medium": "made up"}, "benchmarks": [{
                "name": name + "/iterations:64/real_time", "real_time": 7, "lines_read": 2, "modelled_ns:cxl": 500}]},
                      file)
            file.flush()
            rows.read_benchmarks(file.name, timed=True)
            self.assertIsNone(rows.value("E2", "lines_read", levels=1, inner="pmem"))
            rows.read_benchmarks(file.name, timed=False)
        self.assertEqual(rows.value("E2", rows_module.TIME, levels=1, inner="pmem"), 7)
        self.assertEqual(rows.value("E2", "lines_read", inner="pmem", levels=1), 2)
        self.assertEqual(rows.devices(), ["cxl"])
        self.assertIsNone(rows.value("E2", "lines_read", levels=2, inner="pmem"))


if __name__ == "__main__":
    unittest.main()
