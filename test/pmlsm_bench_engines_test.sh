#!/usr/bin/env bash
# pmlsm_bench on the engines that are not pmlsm. Not under sanitizers: Debian's libraries are built without them.
set -euo pipefail

bench=$PWD/$1
work=$(mktemp -d /dev/shm/pmlsm_bench_engines_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() { echo "pmlsm_bench_engines_test: $*" >&2; exit 1; }
run() { "$bench" --db="$work/db" --seed=1 --max_pmem_bytes=$((512 << 20)) "$@" >"$work/out" 2>"$work/err"; }
expect_line() { grep -Eq -- "$1" "$work/out" || { cat "$work/out" "$work/err" >&2; fail "no line like '$1'"; }; }
refuse() {
  local message=$1
  shift
  if run "$@"; then fail "no error from $*"; fi
  grep -q -- "$message" "$work/err" || { cat "$work/err" >&2; fail "no '$message' from $*"; }
}

# The same workloads: values are checked as they are read.
for engine in rocksdb rocksdb-sync rocksdb-nowal rocksdb-mmap leveldb-sync lmdb; do
  rm -rf "$work/db"
  run --engine="$engine" --num=20000 --benchmarks=fillrandom,overwrite,waitforcompaction,readrandom,readmissing,readseq,readreverse,seekrandom,deleterandom,fillbatch,readseq ||
    { cat "$work/out" "$work/err" >&2; fail "the benchmarks failed on $engine"; }
  expect_line '^readrandom   : .* \(20000 of 20000 found\)$'
  expect_line '^readmissing  : .* \(0 of 20000 found\)$'
  expect_line '^seekrandom   : .* \(20000 of 20000 found\)$'
  expect_line '^readreverse  : .* 20000 operations;'
  expect_line '^Each Put:'
  [ "$(grep -cE '^readseq      : .* 20000 operations;' "$work/out")" = 2 ] || fail "$engine: a scan did not see all"
  # What was there is there in the next process.
  run --engine="$engine" --num=20000 --use_existing_db --json="$work/open.json" --benchmarks=open,readrandom
  expect_line '^open         : .* 1 operations;'
  expect_line '^readrandom   : .* \(20000 of 20000 found\)$'
done
for engine in rocksdb-mmap-hash rocksdb-cuckoo; do
  rm -rf "$work/db"
  run --engine="$engine" --num=20000 --benchmarks=fillrandom,flush,waitforcompaction,readrandom
  expect_line '^readrandom   : .* \(20000 of 20000 found\)$'
  rm -rf "$work/db"
  if run --engine="$engine" --num=2000 --benchmarks=fillrandom,readseq; then fail "$engine: no error from a scan"; fi
  grep -q "cannot be scanned" "$work/err" || fail "$engine: a scan failed for another reason"
done

# The floor fences each record, and opens a DB's pool without touching it.
rm -rf "$work/db"
run --engine=floor --num=20000 --benchmarks=fillrandom,readrandom,readseq
expect_line '^  total +192.0 +3.00 .* 1.000$'
expect_line '^readseq      : .* 20000 operations;'
rm -rf "$work/db"
run --num=20000 --benchmarks=fillrandom
run --engine=floor --use_existing_db --benchmarks=open
if run --engine=floor --use_existing_db --benchmarks=overwrite; then fail "the floor wrote into a DB"; fi
grep -q "the pool is a DB's" "$work/err" || fail "the floor refused a DB for another reason"
run --num=20000 --use_existing_db --benchmarks=readrandom
expect_line '^readrandom   : .* \(20000 of 20000 found\)$'

refuse "engine lmdb always writes its log" --engine=lmdb --disable_wal
refuse "one of pmlsm, rocksdb" --engine=frob
refuse "--bloom_bits.*LMDB has no" --engine=lmdb --bloom_bits=10
echo "pmlsm_bench_engines_test: passed"
