#!/usr/bin/python3
"""The paper's statements that counts decide, against a file: each figure is the same in every run and on every machine.
And on the same rows with figures that are made up: each statement holds for some and does not for others.

  findings_test.py NODE_COUNTS FILE             compares
  findings_test.py NODE_COUNTS FILE --write     writes the file anew
"""
import difflib
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import findings
import judge
import rows as rows_module

TRIALS = 3000
SEED = 3


def made_up(rows, dice):
    """Rows with figures that are products of a factor for each choice behind the row: so that the better choice is the
    better one in many rows, as it is in fact. A narrow trial has all figures of an experiment nearly alike. In some a
    level of a tree adds about as much as the one before."""
    factors = {}
    spread = dice.choice([0.01, 0.3, 1.5])
    a_level = dice.choice([None, 1, 75])
    result = rows_module.Rows()
    for name in rows.rows:
        experiment, choices = rows_module.choices_of(name)
        if a_level and "levels" in choices:
            result.rows[name] = _OneFigure(a_level * int(choices["levels"]))
            continue
        logarithm = factors.setdefault(experiment, dice.gauss(0, 1.5))
        for choice in choices.items():
            for effect in (choice, (experiment, choice)):
                logarithm += factors.setdefault(effect, dice.gauss(0, spread))
        result.rows[name] = _OneFigure(100 * math.exp(logarithm))
    return result


class _OneFigure(dict):
    """A row whose metrics are all the same figure."""

    def __init__(self, figure):
        super().__init__()
        self.figure = figure

    def get(self, metric, default=None):
        return self.figure


def one_sided(rows):
    """Numbers of the statements that always hold, or never, whatever the figures are."""
    dice = random.Random(SEED)
    seen = {statement.number: set() for statement in findings.STATEMENTS}
    open_ones = [statement for statement in findings.STATEMENTS if statement.pairs is not None]
    for _ in range(TRIALS):
        figures = made_up(rows, dice)
        for statement in open_ones:
            seen[statement.number].add(judge.judge(statement, figures).verdict == judge.HOLDS)
        open_ones = [statement for statement in open_ones if len(seen[statement.number]) < 2]
    return ["%s (%s)" % (statement.number, "holds" if True in seen[statement.number] else "does not hold")
            for statement in open_ones]


def main():
    node_counts, path = sys.argv[1:3]
    rows = rows_module.Rows()
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([node_counts, "--quick", "--benchmark_out=" + out.name, "--benchmark_out_format=json"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows.read_benchmarks(out.name, timed=False)
    stuck = one_sided(rows)
    if stuck:
        print("the same verdict on all rows: %s" % ", ".join(stuck))
        return 1
    exact = [verdict for verdict in findings.verdicts(rows) if findings.exact(verdict)]
    found = [line + "\n" for line in findings.table_with_figures(exact)]
    if sys.argv[3:] == ["--write"]:
        with open(path, "w") as file:
            file.writelines(found)
        return 0
    with open(path) as file:
        expected = file.readlines()
    sys.stdout.writelines(difflib.unified_diff(expected, found, path, "counted"))
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
