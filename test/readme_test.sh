#!/usr/bin/env bash
# The README's program and the lines that build and run it do what the README says: the text is taken from it.
set -euo pipefail

fail() { echo "readme_test: $*" >&2; exit 1; }

top=$PWD
work=$(mktemp -d /dev/shm/pmlsm_readme.XXXXXX)
trap 'rm -rf "$work"' EXIT

# The layout that a user has in front of him.
mkdir "$work/bazel-bin"
ln -s "$top/include" "$work/include"
ln -s "$top/libpmlsm.a" "$work/bazel-bin/libpmlsm.a"

# The first block of that language.
block() { awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ { if (inside) exit } inside' README.md; }
block cpp >"$work/first.cc"
[ -s "$work/first.cc" ] || fail "no C++ program in README.md"

compile=$(grep -E '^g\+\+ .*first\.cc' README.md) || fail "no g++ line in README.md"
run=$(grep -E '^\./first ' README.md) || fail "no line that runs the program in README.md"

cd "$work"
echo "$compile"
eval "$compile"
for attempt in "creates the DB" "opens it again"; do
  output=$(eval "${run//\/dev\/shm/$work}") || fail "the program failed when it $attempt"
  [ "$output" = "a lemon is yellow" ] || fail "the program printed '$output' when it $attempt"
done
echo "readme_test: passed"
