#!/usr/bin/env bash
# pmlsm_bench: every benchmark runs on a small DB and prints its line; wrong flags are errors that say why. With a second
# argument "threads", only what has several threads.
set -euo pipefail

bench=$PWD/$1
work=$(mktemp -d /dev/shm/pmlsm_bench_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() { echo "pmlsm_bench_test: $*" >&2; exit 1; }
run() { "$bench" --db="$work/db" --seed=1 --max_pmem_bytes=$((512 << 20)) "$@" >"$work/out" 2>"$work/err"; }
expect_line() { grep -Eq -- "$1" "$work/out" || { cat "$work/out" "$work/err" >&2; fail "no line like '$1'"; }; }
refuse() {
  local message=$1
  shift
  if run "$@"; then fail "no error from $*"; fi
  grep -q -- "$message" "$work/err" || { cat "$work/err" >&2; fail "no '$message' from $*"; }
}

# Small memtables and tables, so that flushes and merges happen.
small=(--num=20000 --write_buffer_size=131072 --target_table_bytes=65536 --size_ratio=4)

# Threads with batches, a writer beside readers, deletes.
run "${small[@]}" --threads=2 --batch_size=10 --benchmarks=fillrandom,readrandom,readwhilewriting,seekrandomwhilewriting,deleterandom
expect_line '^readrandom   : .* \(40000 of 40000 found\)$'
expect_line '^readwhilewriting : .* \(40000 of 40000 found\) beside [0-9]+ writes/sec$'
if [ "${2:-}" = threads ]; then
  echo "pmlsm_bench_test: threads passed"
  exit 0
fi

run "${small[@]}" --json="$work/results.json" --histogram --benchmarks=fillseq,readseq,readreverse,fillrandom,readrandom,readmissing,seekrandom,overwrite,seekordered,readrandomwriterandom,updaterandom,compact,flush,waitforcompaction,readseq,stats,levelstats ||
  { cat "$work/out" "$work/err" >&2; fail "the benchmarks failed"; }
expect_line '^fillseq      : +[0-9.]+ micros/op [0-9]+ ops/sec [0-9.]+ seconds 20000 operations; +[0-9.]+ MB/s$'
expect_line '^readseq      : .* 20000 operations;'
expect_line '^readreverse  : .* 20000 operations;'
expect_line '^readrandom   : .* \(20000 of 20000 found\)$'
expect_line '^readmissing  : .* \(0 of 20000 found\)$'
expect_line '^seekrandom   : .* \(20000 of 20000 found\)$'
expect_line '^updaterandom : .* \( updates:20000 found:20000\)$'
expect_line '^readrandomwriterandom : .* \( reads:18000 writes:2000 total:20000 found:18000\)$'
expect_line '^compact      : .* 1 operations;'
expect_line '^Medium: +tmpfs'
expect_line '^Percentiles: P50: .* P99.9: '
expect_line '^  log +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$'
for field in engine benchmark threads ops_per_sec p50_us p99_us p999_us max_us operations seconds found pmem; do
  grep -q "\"$field\":" "$work/results.json" || fail "no $field in the JSON file"
done

# What is there stays there with --use_existing_db, and a benchmark that wants a fresh DB is skipped.
run "${small[@]}" --use_existing_db --benchmarks=fillseq,readseq
expect_line '^fillseq      : skipped'
expect_line '^readseq      : .* 20000 operations;'

# The longest write against that of a bare log.
run "${small[@]}" --json="$work/floor.json" --benchmarks=appendfloor,fillrandom,readrandom
expect_line '^appendfloor  : .* 20000 operations;'
expect_line '^  longest write [0-9.]+ ms, P99.9 [0-9.]+ ms$'
expect_line '^  longest write [0-9.]+ ms, P99.9 [0-9.]+ ms; [0-9.]+ ms above appendfloor.s longest$'
[ "$(grep -c '"max_above_floor_us":' "$work/floor.json")" = 1 ] || fail "max_above_floor_us: not once in the JSON file"
if ls "$work"/db.floor* 2>/dev/null; then fail "appendfloor left its pool"; fi

# Batches, deletes, a hash memtable.
run "${small[@]}" --benchmarks=fillbatch,deleteseq,readrandom,readseq --memtablerep=hash
expect_line '^readrandom   : .* \(0 of 20000 found\)$'
expect_line '^readseq      : .* 0 operations;'

# Each way of writing and merging gives the same answers (values are checked as they are read).
for mode in --failure_atomicity=transaction --failure_atomicity=atomic --merge_order=2way --merge_order=kway \
  --merge_destination=direct --merge_destination=buffered --nosync --disable_wal --bloom_bits=0 --noverify_checksum; do
  run "${small[@]}" "$mode" --benchmarks=fillrandom,overwrite,readrandom,readseq ||
    { cat "$work/out" "$work/err" >&2; fail "the benchmarks failed with $mode"; }
  expect_line '^readrandom   : .* \(20000 of 20000 found\)$'
  expect_line '^readseq      : .* 20000 operations;'
done

# Fewer writes than keys: reads draw from the written ones. With replacement: db_bench's share of them.
run "${small[@]}" --writes=5000 --benchmarks=fillrandom,readrandom
expect_line '^readrandom   : .* \(20000 of 20000 found\)$'
run "${small[@]}" --random_with_replacement --benchmarks=fillrandom,readrandom
expect_line '^readrandom   : .* \(12[0-9]{3} of 20000 found\)$'

# Threads that share the work fill the same DB as one.
run "${small[@]}" --threads=2 --divide_work --benchmarks=fillrandom,readseq --scans=40000
expect_line '^fillrandom   : .* 20000 operations;'
expect_line '^readseq      : .* 40000 operations;'

refuse "unknown command line flag" --bogus=1
refuse "must be 1 to" --num=0
refuse "fillseq .*in key order" --benchmarks=fillseq,frobnicate
refuse "one of sorted, hash" --memtablerep=skip_list
refuse "size_ratio = 99: must be 2 to 32" --size_ratio=99
refuse "one of tiered, leveled, lazy_leveled" --compaction_style=round
refuse "exclude each other" --sync --disable_wal
refuse "not a flag" fillseq
echo "pmlsm_bench_test: passed"
