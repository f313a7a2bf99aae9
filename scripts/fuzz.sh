#!/usr/bin/env bash
# Runs every fuzz target of build/fuzz for the given number of seconds, JOBS at a time. Fails when one finds something, and prints
# where the input was kept. Corpora grow under build/fuzz/corpus; seeds, where there are some, stand in tests/fuzz/<target>/.
#
#   scripts/fuzz.sh [SECONDS] [TARGET ...]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
[[ "$seconds" =~ ^[0-9]+$ ]] || { echo "fuzz: \"$seconds\" is no number of seconds" >&2 && exit 2; }
mapfile -t targets < <(find build/fuzz/src -type f -name 'fuzz_*' -executable | sort)
if [ $# -gt 0 ]; then
  mapfile -t targets < <(for name in "$@"; do printf '%s\n' "${targets[@]}" | grep -E "/(fuzz_)?$name\$"; done)
fi
[ "${#targets[@]}" -gt 0 ] || { echo "fuzz: no target; build them with the preset fuzz" >&2 && exit 1; }

symbolizer=external_symbolizer_path=$(command -v llvm-symbolizer-19 || true)
export ASAN_OPTIONS=$symbolizer UBSAN_OPTIONS=$symbolizer:print_stacktrace=1

one() {
  local target=$1 seconds=$2 name
  name=$(basename "$target")
  local corpus=build/fuzz/corpus/$name log=build/fuzz/log/$name
  mkdir -p "$corpus" build/fuzz/log build/fuzz/found
  local seeds=()
  [ ! -d "tests/fuzz/$name" ] || seeds=("tests/fuzz/$name")
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2560 -artifact_prefix="build/fuzz/found/$name-" \
    -print_final_stats=1 "$corpus" "${seeds[@]}" >"$log" 2>&1; then
    printf 'fuzz: %-24s %s runs, nothing found\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  else
    sed -n '/ERROR: \|runtime error:/,$p' "$log" | head -n 60
    printf 'fuzz: %-24s FAILED, log %s\n' "$name" "$log"
    return 1
  fi
}
export -f one
# shellcheck disable=SC2016  # the inner shell expands
printf '%s\0' "${targets[@]}" | xargs -0 -P "${JOBS:-$(nproc)}" -I {} bash -c 'one "$1" "$2"' _ {} "$seconds"
