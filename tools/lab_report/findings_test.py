#!/usr/bin/python3
"""The paper's statements that counts decide, against a file: each figure is the same in every run and on every machine.

  findings_test.py NODE_COUNTS FILE             compares
  findings_test.py NODE_COUNTS FILE --write     writes the file anew
"""
import difflib
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import findings
import rows as rows_module


def main():
    node_counts, path = sys.argv[1:3]
    rows = rows_module.Rows()
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([node_counts, "--quick", "--benchmark_out=" + out.name, "--benchmark_out_format=json"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows.read_benchmarks(out.name, timed=False)
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
