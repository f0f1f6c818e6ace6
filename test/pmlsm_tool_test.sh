#!/usr/bin/env bash
# The pmlsm tool by its commands: output and exit code (0, 1 = not found or damage, 2 = error).
set -euo pipefail

tool=$PWD/$1
work=$(mktemp -d /dev/shm/pmlsm_tool.XXXXXX)
trap 'rm -rf "$work"' EXIT
db=$work/db
tab=$'\t'

# expect CODE OUTPUT ARGUMENT...: runs the tool and compares its exit code and stdout.
expect() {
  local want_code=$1 want_output=$2 code=0 output
  shift 2
  output=$("$tool" "$@" 2>"$work/stderr") || code=$?
  if [ "$code" != "$want_code" ] || [ "$output" != "$want_output" ]; then
    printf 'pmlsm %s\n  exit code %s, want %s\n  output [%s]\n  want   [%s]\n  stderr [%s]\n' \
      "$*" "$code" "$want_code" "$output" "$want_output" "$(cat "$work/stderr")" >&2
    exit 1
  fi
}
expect_message() { grep -q -- "$1" "$work/stderr" || { echo "no '$1' in: $(cat "$work/stderr")" >&2; exit 1; }; }

# Errors of use, and a DB that is not there.
expect 2 "" get
expect 2 "" frobnicate
expect 2 "" get key --db="$db" --bogus
expect 2 "" get key --db="$db"
[ ! -e "$db" ] || { echo "get created the DB" >&2; exit 1; }
expect 2 "" put key value --db="$db" --create --memtable=triangular
expect_message "sorted, hash"
expect 2 "" put key value --db="$db" --create --write-buffer-size=1
expect_message "write_buffer_size"

# One key.
expect 0 "" put apple red --db="$db" --create --max-pmem-bytes=256MiB
expect 0 "red" --db="$db" get apple
expect 1 "" --db="$db" get pear
expect_message "not found: pear"
expect 0 "" --db="$db" put apple green
expect 0 "green" --db="$db" get apple
expect 0 "677265656E" --db="$db" get --hex 6170706C65
expect 2 "" --db="$db" get --hex 617
expect 0 "" --db="$db" del apple
expect 0 "" --db="$db" del apple
expect 1 "" --db="$db" get apple
expect 0 "" --db="$db" put empty ""
expect 0 "" --db="$db" get empty
expect 0 "" --db="$db" del empty

# Lines. A later line for the same key wins; a value may hold tabs.
printf 'b\t2\na\t1\n\nc\tthree\tparts\nb\ttwo\nba\t4\n' >"$work/lines"
expect 0 "loaded 5 entries, 23 bytes of keys and values" --db="$db" load "$work/lines" --batch-size=2
expect 0 "a${tab}1
b${tab}two
ba${tab}4
c${tab}three${tab}parts" --db="$db" scan
expect 0 "c
ba
b
a" --db="$db" scan --reverse --keys-only
expect 0 "b
ba" --db="$db" scan --prefix=b --keys-only
expect 0 "ba
b" --db="$db" scan --prefix=b --keys-only --reverse
expect 0 "b" --db="$db" scan --from=b --to=ba --keys-only
expect 0 "a" --db="$db" scan --limit=1 --keys-only
expect 0 "63" --db="$db" scan --hex --from=63 --keys-only
expect 0 "" --db="$db" scan --prefix=zebra

# A text that is not right: what stood before the bad line is loaded.
printf 'd\t5\nno tab here\ne\t6\n' >"$work/broken"
expect 2 "loaded 1 entries, 2 bytes of keys and values" --db="$db" load "$work/broken"
expect_message "line 2"
expect 0 "5" --db="$db" get d
expect 1 "" --db="$db" get e
expect 2 "" --db="$db" load "$work/no-such-file"
expect_message "no-such-file"

# Stanzas, from stdin.
stanzas=$'Package: ed\nVersion: 1.19\nDescription: classic editor\n more of it\n\n\nPackage: vi\nVersion: 9'
expect 0 "loaded 2 entries, 93 bytes of keys and values" --db="$db" load --stanzas - <<<"$stanzas"
expect 0 $'Package: ed\nVersion: 1.19\nDescription: classic editor\n more of it' --db="$db" get ed

# Nobody else may have the DB open; the tool says what the DB says about itself.
expect 0 "pmlsm.num-snapshots: 0" --db="$db" stats pmlsm.num-snapshots
# Each opening flushes and may merge, so the number of entries falls from the 13 written to the 7 that are left.
estimate=$("$tool" --db="$db" stats pmlsm.estimate-num-keys)
[[ $estimate =~ ^pmlsm\.estimate-num-keys:\ ([0-9]+)$ && ${BASH_REMATCH[1]} -ge 7 && ${BASH_REMATCH[1]} -le 13 ]] ||
  { echo "stats pmlsm.estimate-num-keys: $estimate" >&2; exit 1; }
"$tool" --db="$db" stats | grep -q '^pmlsm.medium: tmpfs' || { echo "stats names no medium" >&2; exit 1; }
expect 2 "" --db="$db" stats pmlsm.no-such-property
# Probe, of a directory that holds no DB.
"$tool" --db="$work" probe --bytes=1M | grep -q '"read_block_ns": [0-9]' || { echo "probe: no profile" >&2; exit 1; }
expect 2 "" --db="$work/none" probe
expect 2 "" --db="$work" probe --bytes=1K

# What families there are, of a DB that is not open.
expect 0 "default" --db="$db" families
expect 2 "" --db="$work/nothing" families

# Check and salvage, of a DB that is not open.
expect_line() { grep -q -- "$1" <<<"$output" || { echo "no '$1' in: $output" >&2; exit 1; }; }
for i in $(seq 10000 11000); do printf 'n%d\tvalue of %d\n' "$i" "$i"; done >"$work/numbers"
expect 0 "loaded 1001 entries, 20020 bytes of keys and values" --db="$db" load "$work/numbers"
"$tool" --db="$db" scan >"$work/before"
(cd "$db" && find . -type f -exec sha256sum {} + | sort) >"$work/sums"
output=$("$tool" --db="$db" check)
expect_line '^whole: 0 damaged pieces'
expect 2 "" --db="$work/nothing" check
expect_message "does not exist"
expect 2 "" --db="$db" salvage
expect 2 "" --db="$db" salvage "$db"

# A value that is damaged on the medium: get refuses it, check names it, salvage copies all others.
cp -r "$db" "$work/damaged"
# (It also stands in the log, which is flushed and free by now.)
places=$(cd "$work/damaged/parts" && LC_ALL=C grep -abo 'value of 10500' -- *.pmem | cut -d: -f1,2)
[ -n "$places" ] || { echo "no such value in the pool" >&2; exit 1; }
for place in $places; do
  printf 'V' | dd of="$work/damaged/parts/${place%:*}" bs=1 seek="${place#*:}" conv=notrunc status=none
done
code=0
output=$("$tool" --db="$work/damaged" check) || code=$?
[ "$code" = 1 ] || { echo "check of a damaged DB: exit code $code" >&2; exit 1; }
expect_line '^damaged: table [0-9]* of run .*00000[0-9].pmem, byte.*keys from "n10499" to "n10501"'
expect_line '^damaged: 1 damaged pieces, entries are lost'
code=0
output=$("$tool" --db="$work/damaged" salvage "$work/salvaged") || code=$?
[ "$code" = 1 ] || { echo "salvage of a damaged DB: exit code $code" >&2; exit 1; }
expect_line '^copied [0-9]* keys'
"$tool" --db="$work/salvaged" scan | cmp - <(grep -v '^n10500' "$work/before")
expect 2 "" --db="$work/damaged" salvage "$work/salvaged"
expect_message "exists"

# libpmemobj's header gone: nothing can open it, but all is copied.
cp -r "$db" "$work/headless"
dd if=/dev/zero of="$work/headless/parts/000000.pmem" bs=4096 count=1 conv=notrunc status=none
expect 2 "" --db="$work/headless" get apple
code=0
output=$("$tool" --db="$work/headless" salvage "$work/copied") || code=$?
[ "$code" = 1 ] || { echo "salvage without a header: exit code $code" >&2; exit 1; }
"$tool" --db="$work/copied" scan | cmp - "$work/before"
(cd "$db" && find . -type f -exec sha256sum {} + | sort) | cmp - "$work/sums"
echo "pmlsm_tool_test: passed"
