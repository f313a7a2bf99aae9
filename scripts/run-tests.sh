#!/usr/bin/env bash
# Runs the steps of the table below in order, prints how long each took, stops at the first that fails.
#
#   scripts/run-tests.sh [SET | STEP ...]     sets: all (default), lint, fast; full, which is not in all
#   scripts/run-tests.sh --list
#
# JOBS: processes at a time (default: one per core). TIDY_SECONDS: clang-tidy begins no new file after this time.
# KILLS, SEEDS, TURNS, SOAK_TURNS: how much of the set full is run (default: all that make test-full promises).
# A new step is one line. A step whose program is missing fails: a test that silently does not run is worse than none.
# shellcheck disable=SC2317  # the check_ functions are called by the table
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(nproc)}
build=build/release
python=.venv/bin/python
# What needs the heavy installations of make test-agents.
without_agents="--ignore=tests/e2e/test_opencode.py --ignore=tests/e2e/test_codex.py --ignore=tests/e2e/test_openai_node.py"
upstream_tests=(tests/e2e/test_cassettes.py tests/e2e/test_replay.py tests/e2e/test_dynamo_upstream.py tests/e2e/test_upstream_guides.py)

# name     sets        command
steps=(
  "format    lint,fast   scripts/format.sh --check"
  "layout    lint,fast   scripts/check-layout.py"
  "shell     lint,fast   check_shell"
  "python    lint,fast   check_python"
  "build     fast        make --no-print-directory build JOBS=$jobs"
  "unit      fast        ctest --test-dir $build --output-on-failure --no-tests=error --timeout 300 -j $jobs"
  "scripts   fast        $python -m pytest -q tests/lint"
  "encode    slow        $python tests/oracle/check_tokenizer.py --tool $build/tests/tokenizer_oracle_tool --model models/qwen3"
  "render    slow        $python tests/oracle/check_render.py --tool $build/tests/render_oracle_tool --model models/qwen3"
  "splice    slow        check_splice"
  "parse     slow        check_parse"
  "session   slow        check_session"
  "api       slow        check_api"
  "upstream  slow        check_upstream"
  "e2e       slow        $python -m pytest -q tests/e2e $without_agents ${upstream_tests[*]/#/--ignore=}"
  "simulate  slow        $build/tests/simulate --seeds 20 --turns 5000 --quiet"
  "disk      slow        $build/tests/simulate --store sqlite --seeds 40 --turns 20000 --quiet"
  "broken    slow        check_broken"
  "tidy      lint        check_tidy"
  "kills     full        VERBATIM_KILLS=${KILLS:-1000} $python -m pytest -q -s tests/e2e/test_durable.py -k kill_under_load"
  "soak      full        VERBATIM_SOAK_TURNS=${SOAK_TURNS:-1000000} $python -m pytest -q -s tests/e2e/test_soak.py -k long"
  "million   full        $build/tests/simulate --store sqlite --seeds ${SEEDS:-1000} --turns ${TURNS:-1000000} --quiet"
)

tracked() {
  git ls-files --cached --others --exclude-standard -- "$@"
}
check_shell() {
  local files
  mapfile -t files < <(tracked '*.sh' .ci/run)
  shellcheck "${files[@]}"
}
check_python() {
  local files
  mapfile -t files < <(tracked '*.py')
  # Compiles without leaving __pycache__ behind.
  python3 -W error -c 'import pathlib, sys
for name in sys.argv[1:]: compile(pathlib.Path(name).read_bytes(), name, "exec")' "${files[@]}"
}
# Recorded engines, and the real Dynamo frontends that were recorded.
check_upstream() {
  "$build/verbatim" cassette validate tests/cassettes
  "$python" -m pytest -q "${upstream_tests[@]}"
}
# The simulation finds each of its deliberate bugs, by the invariant it breaks.
check_broken() {
  local broken found
  for broken in commit-after-answer:I9 lost-version:I8 wrong-logprob:I4 "stale-parent --kind vllm/generate:I4" no-abort:abort \
    shared-choice:I9 every-repeat:repeat forgotten-key:repeat \
    "dropped-sync --store sqlite:I9" "commit-after-answer --store sqlite:I9"; do
    # shellcheck disable=SC2086  # the words are options
    found=$("$build/tests/simulate" --seeds 20 --turns 5000 --break ${broken%%:*}) && echo "$broken was not found" && return 1
    printf '%s: %s\n' "${broken%%:*}" "$(head -1 <<<"$found")"
    [[ $found == *": ${broken#*:} does not hold"* ]] || { echo "expected: ${broken#*:} does not hold" && return 1; }
  done
}
check_splice() {
  local model policy
  for model in models/qwen3:models/qwen3/chat_template.jinja tests/cases/toy:tests/cases/toy/chatml.jinja; do
    for policy in injection_safe hf_exact; do
      "$build/tests/check_splice" --tokenizer "${model%%:*}" --chat-template "${model#*:}" --policy "$policy" --steps 10000
    done
  done
}
check_parse() {
  "$python" tests/cases/run_parse.py --cases tests/cases --grammar hermes --level may --jobs "$jobs" --cmd "$build/verbatim parse \
    --grammar {grammar} --tools {tools} --output {output} --segments {segments} --prompt-tail {prompt_tail} --finish {finish} --chunks {chunks}"
}
# Both ways in which the engine may stream, and all modes of sessions.
serve="$build/verbatim serve --port {port} --engine {engine} --engine-kind {kind} --tokenizer {tokenizer} --chat-template {template} \
  --record-dir {records} --store memory --encoding-policy {policy}"
check_session() {
  local way
  for way in "sglang --engine-stream cumulative" "sglang --engine-stream incremental" "vllm" "sglang --mode linear" "sglang --mode strict"; do
    # shellcheck disable=SC2086  # the words of a way are options
    "$python" tests/cases/run_session.py --cmd "$serve" --level may --kind $way --expect-fail tests/cases/not-yet.txt tests/cases
  done
}
check_api() {
  local stream
  for stream in cumulative incremental; do
    "$python" tests/cases/run_api.py --cmd "$serve" --level may --kinds chat,wire,responses --engine-stream "$stream" \
      --map engine_api_key='--engine-api-key {value}' --expect-fail tests/cases/not-yet.txt tests/cases
  done
}
check_tidy() {
  [ -f "$build/compile_commands.json" ] || cmake --preset release >/dev/null
  local limit=()
  [ -z "${TIDY_SECONDS:-}" ] || limit=(--seconds "$TIDY_SECONDS")
  scripts/tidy.py --build "$build" --jobs "$jobs" "${limit[@]}"
}

usage() {
  sed -n '2,5p' "$0" | cut -c3-
}

names=() sets=() commands=()
for step in "${steps[@]}"; do
  read -r name set command <<<"$step"
  names+=("$name") sets+=("$set") commands+=("$command")
done

chosen=()
choose() {
  local i found=""
  for i in "${!names[@]}"; do
    if [ "$1" = all ] && [ "${sets[i]}" != full ] || [ "$1" = "${names[i]}" ] || [[ ",${sets[i]}," == *",$1,"* ]]; then
      chosen+=("$i")
      found=yes
    fi
  done
  [ -n "$found" ] || { echo "run-tests: no set or step \"$1\"; there are: ${names[*]}" >&2 && exit 2; }
}
case "${1:-all}" in
  -h | --help) usage && exit 0 ;;
  --list) printf '%s\n' "${steps[@]}" && exit 0 ;;
esac
[ $# -gt 0 ] || set -- all
for word in "$@"; do choose "$word"; done

passed=0 failed=0 report=""
for i in "${chosen[@]}"; do
  echo "== ${names[i]}: ${commands[i]}"
  began=$EPOCHREALTIME
  # Not as part of a condition: that would switch `set -e` off inside the step.
  set +e
  (
    set -e
    eval "${commands[i]}"
  ) </dev/null
  status=$?
  set -e
  took=$(((${EPOCHREALTIME//[.,]/} - ${began//[.,]/}) / 100000))
  printf -v line '  %-10s %5d.%d s  %s\n' "${names[i]}" $((took / 10)) $((took % 10)) "$([ "$status" = 0 ] && echo passed || echo FAILED)"
  report+=$line
  if [ "$status" -ne 0 ]; then
    failed=1
    break
  fi
  passed=$((passed + 1))
done

echo
printf '%s' "$report"
if [ "$failed" -ne 0 ]; then
  echo "run-tests: step \"${names[i]}\" failed; $((${#chosen[@]} - passed - 1)) steps behind it did not run. Again alone: scripts/run-tests.sh ${names[i]}"
fi
echo "$passed passed, $failed failed"
exit "$failed"
