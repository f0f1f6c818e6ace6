#!/bin/sh
# The one door: outside pmem/ and test/, nothing names a function of PMDK or an instruction that reaches media.
# Reads the source tree that this script lies in, so that no folder can be left out by a BUILD file.
set -u

banned='\b(pmem_[a-z0-9_]+|pmemobj_[a-z0-9_]+|_mm_cl[a-z0-9_]*|_mm_stream[a-z0-9_]*|_mm_sfence)\b|#include *<libpmem'

# The ban itself must work: each of these lines has to be found.
for line in 'pmem_persist(p, 8);' ' pmemobj_open(a, b)' '_mm_clwb(p)' '_mm_clflushopt(p)' '_mm_stream_si64(a, b)' \
    '_mm_sfence();' '#include <libpmem.h>' '#include <libpmemobj.h>'; do
  if ! printf '%s\n' "$line" | grep -qE "$banned"; then
    echo "the pattern misses: $line"
    exit 1
  fi
done
for line in '#include "pmem/store.h"' 'uint64_t max_pmem_bytes = 0;' 'pmemobjpool* handle();' 'pool->pmem()'; do
  if printf '%s\n' "$line" | grep -qE "$banned"; then
    echo "the pattern wrongly finds: $line"
    exit 1
  fi
done

cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
files=$(find db memtable levels compaction primitives util tools include -name '*.cc' -o -name '*.h' 2>/dev/null)
if [ -z "$files" ]; then
  echo "no source files in $(pwd)"
  exit 1
fi
# Comments may name them.
# shellcheck disable=SC2086 # names without blanks
found=$(grep -nHE "$banned" -- $files | grep -vE '^[^:]*:[0-9]+: *(//|\*)')
if [ -n "$found" ]; then
  echo "PMem is reached around pmem/store.h:"
  echo "$found"
  exit 1
fi
echo "$(echo "$files" | wc -l) files, none reaches around the door"
