#!/usr/bin/env bash
# lsm_experiments: small nodes of both experiments, their rows, findings and JSON; wrong flags are errors that
# name the flag, its value and what is allowed.
set -euo pipefail

tool=$PWD/$1
work=$(mktemp -d /dev/shm/lsm_experiments_test.XXXXXX)
trap 'rm -rf "$work"' EXIT

fail() { echo "lsm_experiments_test: $*" >&2; exit 1; }
run() { "$tool" --dir="$work" --repetitions=1 --node_bytes_min=4096 --node_bytes_max=4096 --noevict_caches "$@" >"$work/out" 2>"$work/err"; }
expect_line() { grep -Eq -- "$1" "$work/out" || { cat "$work/out" "$work/err" >&2; fail "no line like '$1'"; }; }
refuse() {
  local message=$1
  shift
  if run "$@"; then fail "no error from $*"; fi
  grep -qF -- "$message" "$work/err" || { cat "$work/err" >&2; fail "no '$message' from $*"; }
}

run --inputs=4 --json="$work/results.json" || { cat "$work/out" "$work/err" >&2; fail "the experiments failed"; }
expect_line '^Medium: +tmpfs \(emulated\)$'
for memtable in sorted hash; do
  for mode in transaction individual atomic; do
    expect_line "^4 KiB +170 $memtable +$mode +[0-9.]+ "
  done
done
for order in 2way-materialized 2way-streaming kway; do
  for dest in direct buffered; do
    for mode in transaction individual atomic; do
      expect_line "^4 KiB +0 +680 +680 $order +$dest +$mode +[0-9.]+ "
      expect_line "^4 KiB +50 +680 +425 $order +$dest +$mode +[0-9.]+ "
      expect_line "^4 KiB +100 +680 +170 $order +$dest +$mode +[0-9.]+ "
    done
  done
done
for mode in transaction individual atomic; do
  for duplicates in 0 50 100; do
    expect_line "^4 KiB +$duplicates +680 +[0-9]+ auto +auto +$mode +[0-9.]+ "
  done
done
for id in E6.1 E6.2 E6.3 E6.4 E6.5 E6.6 E7.1 E7.2 E7.3 E7.4 E7.5 E7.6 E7.7 E7.8 6.1; do
  expect_line "^$id \(section "
done
expect_line '^  (holds|holds in part|does not hold): [0-9]+ of [0-9]+ pairs agree; '
# Exact counts, so it holds on any machine.
grep -A1 '^A.1 ' "$work/out" | grep -q '^  holds: 9 of 9 pairs agree; auto / best ' || { cat "$work/out" >&2; fail "the automatic choice's bound"; }
for field in medium rows findings verdict by_node ns_per_entry snapshot_bytes fences line_bytes block_bytes; do
  grep -q "\"$field\":" "$work/results.json" || fail "no $field in the JSON file"
done
[ -z "$(find "$work" -name 'lsm_experiments-*')" ] || fail "the pool is still there"

# One experiment alone; numbers of inputs that are no power of two.
run --experiment=E6 && expect_line '^E6, move node' && ! grep -q '^E7' "$work/out" || fail "E6 alone"
run --experiment=E7 --inputs=5 && expect_line '^4 KiB +100 +850 +170 2way-materialized' || fail "E7 of 5 inputs"
run --experiment=E7 --inputs=2 && expect_line '^4 KiB +0 +340 +340 kway' || fail "E7 of 2 inputs"

run --experiment=E7 --row=kway/buffered/transaction/50 && expect_line '^4 KiB +50 .* kway +buffered +transaction ' &&
  [ "$(grep -c '^4 KiB ' "$work/out")" = 1 ] || fail "one row alone"

run --help && expect_line '--repetitions \(int64; default: 11\)' || fail "--help"
refuse "unknown command line flag" --bogus=1
refuse "--experiment=E8: must be a comma-separated list of E6, E7" --experiment=E8
refuse "--experiment=: must be a comma-separated list of E6, E7" --experiment=
refuse "--repetitions=0: must be 1 to 10000" --repetitions=0
refuse "illegal value 'many' specified for int64 flag 'repetitions'" --repetitions=many
refuse "--dir=$work/none: must be an existing directory" --dir="$work/none"
refuse "--json=$work/none/f: must be a file that can be written" --json="$work/none/f"
refuse "--seed=-1: must be 0 to" --seed=-1
refuse "--node_bytes_min=1000: must be a power of two, 1024 to 1048576" --node_bytes_min=1000
refuse "--node_bytes_min=8192: must be 1024 to --node_bytes_max (4096)" --node_bytes_min=8192
refuse "--row=kway/direct: must be ORDER/DESTINATION/ATOMICITY/DUPLICATES" --row=kway/direct
refuse "--row=auto/direct/atomic/0: must be ORDER/DESTINATION" --row=auto/direct/atomic/0
refuse "--inputs=1: must be 2 to 64" --inputs=1
refuse "--inputs=16: must be 2 to 8 with --node_bytes_max=1048576" --inputs=16 --node_bytes_max=1048576
refuse "not a flag" E6
echo "lsm_experiments_test: passed"
