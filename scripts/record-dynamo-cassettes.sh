#!/usr/bin/env bash
# Records tests/cassettes/dynamo-1.6.1 and tests/cassettes/dynamo (1.4.1) anew, from the real Dynamo frontends with a scripted worker, without a GPU:
#
#   scripts/record-dynamo-cassettes.sh [RELEASE ...]     releases: 1.6.1 1.4.1; without one: both
#
# Needs make build and make test-deps. The vocabulary of gpt-oss is installed by scripts/models. What stands in tests/cassettes is replaced when the new
# recordings are whole, valid, and kept the word they were to remember; if anything fails it stays.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- 1.6.1 1.4.1
for release in "$@"; do
  case "$release" in
    1.6.1 | 1.4.1) ;;
    *)
      sed -n '2,4p' "$0" | cut -c3- >&2
      exit 2
      ;;
  esac
done
.venv/bin/python scripts/models/install.py --dest models gpt-oss

for release in "$@"; do
  case "$release" in
    1.6.1) venv=.venv-dynamo folder=tests/cassettes/dynamo-1.6.1 wheels=() ;;
    1.4.1) venv=.venv-dynamo-1.4.1 folder=tests/cassettes/dynamo wheels=(1.4.1) ;;
  esac
  [ -x "$venv/bin/python" ] || scripts/engines/dynamo/install.sh "$venv" "${wheels[@]}"
  mkdir -p build
  rm -rf "build/cassettes-$release"
  PYTHONPATH=scripts/engines/dynamo .venv/bin/python scripts/engines/dynamo/record_cassettes.py "build/cassettes-$release" \
    --vocabulary models/gpt-oss --python "$venv/bin/python"
  rm -rf "$folder"
  mv "build/cassettes-$release" "$folder"
  echo "record-dynamo-cassettes: $folder is recorded anew"
done
