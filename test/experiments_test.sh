#!/usr/bin/env bash
# scripts/experiments, as little as shows that all runs: every experiment leaves its rows, the page is whole, delays and
# a probed device reach the results, wrong options are errors that say why.
set -euo pipefail

experiments=$PWD/$1
tools=$PWD/$(dirname "$2")
work=$(mktemp -d /dev/shm/pmlsm_experiments_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() { echo "experiments_test: $*" >&2; exit 1; }
run() { "$experiments" --binaries="$tools" --dir="$work" "$@" >"$work/out" 2>"$work/err"; }
refuse() {
  local message=$1 code=0
  shift
  run "$@" || code=$?
  [ "$code" -eq 1 ] || fail "exit code $code from $*"
  grep -qF -- "$message" "$work/err" || { cat "$work/err" >&2; fail "no '$message' from $*"; }
}

"$tools/pmlsm" --db="$work" probe --bytes=1M >"$work/profile.json" 2>"$work/medium"
grep -q tmpfs "$work/medium" || fail "the medium is not named"
run --smoke --out="$work/report" --profile="$work/profile.json" --device=probed --inject=optane_loaded \
  --workload=search:100 || { tail -20 "$work/err" >&2; fail "did not run"; }

/usr/bin/python3 - "$work" <<'END' || fail "rows are missing or wrong"
import csv, json, os, sys
report = os.path.join(sys.argv[1], "report")
rows = list(csv.DictReader(open(os.path.join(report, "nodes.csv"))))
for experiment in ("E1", "E2", "E3", "E4", "E5", "E8", "E9", "E10"):
    mine = [row for row in rows if row["experiment"] == experiment]
    assert len(mine) >= 10, (experiment, len(mine))
    for row in mine:
        assert float(row["ns"]) > 0, row
        # At least one line is read, of PMem or of DRAM; but for E3, whose rows are by the entry.
        read = float(row["lines_read"]) + float(row["dram_lines_read"])
        assert read >= 1 or experiment == "E3" and read > 0.1, row
        assert float(row["modelled_ns:probed"]) >= 0, row
        # Libpmemobj fences its log, and what is logged.
        assert row["atomicity"] != "transaction" or float(row["fences"]) >= 4, row
assert [row for row in rows if row["experiment"] == "E5-allocation" and float(row["lines_written"]) > 0]
# The delay of five levels in PMem is 2400 ns on Optane, less the 480 of DRAM.
deep = [row for row in rows if row["experiment"] == "E2" and row["levels"] == "5" and row["inner"] == "pmem"][0]
assert float(deep["ns"]) >= 1920, deep
# That of an entry of a chain in PMem, which is read as one.
entry = [row for row in rows if row["experiment"] == "E3" and row["placement"] == "pmem"][0]
assert float(entry["ns"]) >= float(entry["modelled_ns:optane_loaded"]) - float(entry["modelled_ns:dram"]) > 20, entry
assert json.load(open(os.path.join(report, "times.json")))["context"]["delays"] != "none"
assert {row["experiment"] for row in json.load(open(os.path.join(report, "lsm.json")))["rows"]} == {"E6", "E7"}
END

page=$work/report/report.html
# Ten experiments, the profile, failure atomicity.
[ "$(grep -c '^</svg>' "$page")" -eq 12 ] || fail "not twelve drawings in the page"
for number in 1 2 3 4 5 6 7 8 9 10; do grep -q "<h2>E$number, " "$page" || fail "no E$number in the page"; done
grep -q '<b>Recommended: [a-z_]* nodes of [0-9]* K*i*B, [a-z-]* search, failure atomicity by ' "$page" ||
  fail "no recommendation"
grep -q '100 % searches, 0 % inserts.*times of probed' "$page" || fail "not the workload that was described"
[ "$(grep -cE '^[EPI][0-9.s]+ +(counts|model|times) +(holds|does|cannot)' "$work/out")" -ge 75 ] ||
  fail "verdicts are missing"
if grep -qE '(src|href)="?(https?:)?//' "$page"; then fail "the page loads something"; fi
[ "$(find "$work" -mindepth 1 -maxdepth 1 -type d ! -name report | wc -l)" -eq 0 ] || fail "pools were left behind"

refuse "--device=tape: must be of dram, optane_idle" --device=tape
refuse "--inject=this machine: must be of dram" --inject="this machine"
refuse "--workload=search:many: must be shares" --workload=search:many
refuse "--workload=search:0: must be shares" --workload=search:0
refuse "--records=0: must be 1 to" --records=0
refuse "--inner=disk: must be dram or pmem" --inner=disk
refuse "--profile=/does/not/exist: must be a file" --profile=/does/not/exist
refuse "--dir=/does/not/exist: must be a directory" --dir=/does/not/exist
for wrong in --instances_mib=8 --operations=-1 --dir=/does/not/exist --inject=optane_idle; do
  if "$tools/node_experiments" "$wrong" >"$work/out" 2>"$work/err"; then fail "node_experiments took $wrong"; fi
  grep -q 'must be' "$work/err" || fail "node_experiments $wrong: $(cat "$work/err")"
done
echo "experiments_test: passed"
