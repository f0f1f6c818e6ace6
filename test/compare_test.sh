#!/usr/bin/env bash
# scripts/compare, small: every engine and benchmark leaves its row, the page is whole, wrong options are errors that
# say why. Whether a run this small counts says nothing: tools/compare/rules_test.py has the rules.
set -euo pipefail

compare=$PWD/$1
bench=$PWD/$2
work=$(mktemp -d /dev/shm/pmlsm_compare_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() { echo "compare_test: $*" >&2; exit 1; }
run() { "$compare" --binary="$bench" --dir="$work" "$@" >"$work/out" 2>"$work/err"; }
refuse() {
  local message=$1 code=0
  shift
  run "$@" || code=$?
  [ "$code" -eq 1 ] || fail "exit code $code from $*"
  grep -qF -- "$message" "$work/err" || { cat "$work/err" >&2; fail "no '$message' from $*"; }
}

code=0
run --num=2000 --repeats=1 --threads=1,2 --json="$work/all.json" --html="$work/page.html" || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 2 ] || { tail -20 "$work/err" >&2; fail "exit code $code"; }
# A run that is void says by which rule, one that is not says so.
if [ "$code" -eq 2 ]; then grep -q '^VOID: ' "$work/out"; else grep -q '^All rules' "$work/out"; fi ||
  fail "exit code $code without its line"

/usr/bin/python3 - "$work/all.json" <<'END' || fail "rows are missing"
import json, sys
rows = json.load(open(sys.argv[1]))
seen = {(row["engine"], row["threads"], row["benchmark"]): row for row in rows}
all_of_them = ["fillrandom", "overwrite", "waitforcompaction", "readrandom", "readmissing", "readseq", "seekrandom"]
cannot = {"rocksdb-mmap-hash": ["readseq", "seekrandom"], "rocksdb-cuckoo": ["readseq", "seekrandom", "readmissing"]}
for engine in ["pmlsm", "rocksdb-sync", "rocksdb-nowal", "rocksdb-mmap", "rocksdb-mmap-hash", "rocksdb-cuckoo",
               "leveldb-sync", "lmdb", "floor"]:
    wanted = [(t, b) for t in (1, 2) for b in all_of_them if b not in cannot.get(engine, [])]
    # waitforcompaction is one thread's, whatever was asked for.
    wanted = [(1 if b == "waitforcompaction" else t, b) for t, b in wanted] + [(1, "readwhilewriting"), (1, "open")]
    for threads, benchmark in wanted:
        row = seen[engine, threads, benchmark]
        assert row["operations"] > 0 and row["ops_per_sec"] > 0, row
        if benchmark in ("fillrandom", "readseq"):
            assert row["operations"] == 2000, row
        if engine != "floor" and benchmark in ("readrandom", "seekrandom", "readwhilewriting"):
            assert row["found"] == row["reads"] == 1000, row
        if engine != "floor" and benchmark == "readmissing":
            assert row["found"] == 0 and row["reads"] == 1000, row
    durable = engine in ("pmlsm", "rocksdb-sync", "leveldb-sync", "lmdb", "floor")
    assert seen[engine, 1, "fillrandom"]["sync"] == durable, engine
END

for engine in pmlsm rocksdb-sync rocksdb-nowal rocksdb-mmap rocksdb-mmap-hash rocksdb-cuckoo leveldb-sync lmdb floor; do
  grep -q "^== $engine$" "$work/out" || fail "the settings of $engine were not printed"
  grep -q "<h3>$engine</h3>" "$work/page.html" || fail "the settings of $engine are not in the page"
done
# Bars and curves of one thread and of two; nothing that a browser would fetch.
[ "$(grep -c '^</svg>' "$work/page.html")" -eq 4 ] || fail "not four drawings in the page"
if grep -qE '(src|href)="?(https?:)?//' "$work/page.html"; then fail "the page loads something"; fi
[ "$(find "$work" -mindepth 1 -maxdepth 1 -name 'pmlsm_compare*' | wc -l)" -eq 0 ] || fail "DBs were left behind"

refuse "--num=5: must be 1000 to 4294967296" --num=5
refuse "--threads=0: must be 1 to 64" --threads=1,0
refuse "--repeats=many: must be 1 to 1000" --repeats=many
refuse "--engines=tokudb: must be of pmlsm, rocksdb-sync" --engines=pmlsm,tokudb
refuse "must be a directory" --dir=/does/not/exist
echo "compare_test: passed"
