#!/usr/bin/env bash
# Runs what measures: the benchmark binaries of build/bench, then the comparisons with peers in tests/bench/*.py, one after the other
# (differences under 15 % are noise on a shared machine). Prints; asserts nothing.
#
#   scripts/bench.sh [NAME ...]     only those whose path holds one of the names
set -euo pipefail
cd "$(dirname "$0")/.."

wanted() {
  [ $# -gt 1 ] || return 0
  local path=$1 name
  shift
  for name in "$@"; do [[ "$path" != *"$name"* ]] || return 0; done
  return 1
}

mapfile -t binaries < <(find build/bench/src -type f -name '*_bench' -executable 2>/dev/null | sort)
mapfile -t comparisons < <(find tests/bench -maxdepth 1 -name '*.py' -executable 2>/dev/null | sort)
[ $((${#binaries[@]} + ${#comparisons[@]})) -gt 0 ] || { echo "bench: nothing built; use \`make bench\`" >&2 && exit 1; }
for path in "${binaries[@]}"; do
  if wanted "$path" "$@"; then
    echo "== $path"
    "$path" --benchmark_min_time=0.5
  fi
done
for path in "${comparisons[@]}"; do
  if wanted "$path" "$@"; then
    echo "== $path"
    .venv/bin/python "$path" --tool build/release/verbatim
  fi
done
