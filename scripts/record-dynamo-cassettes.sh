#!/usr/bin/env bash
# Records tests/cassettes/dynamo-1.6.1 and tests/cassettes/dynamo (1.4.1) anew, from the real Dynamo frontends with a scripted worker, without a GPU:
#
#   scripts/record-dynamo-cassettes.sh [RELEASE ...]     releases: 1.6.1 1.4.1; without one: both
#
# Needs make build and make test-deps. What stands in tests/cassettes is replaced when the new recordings are whole, valid, and kept the word they
# were to remember; if anything fails it stays.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- 1.6.1 1.4.1
for release in "$@"; do
  case "$release" in
    1.6.1) venv=.venv-dynamo folder=tests/cassettes/dynamo-1.6.1 ;;
    1.4.1) venv=.venv-dynamo-1.4.1 folder=tests/cassettes/dynamo ;;
    *)
      sed -n '2,4p' "$0" | cut -c3- >&2
      exit 2
      ;;
  esac
  PYTHONPATH=scripts/engines .venv/bin/python scripts/engines/dynamo/record_cassettes.py "$folder" --python "$venv/bin/python"
done
