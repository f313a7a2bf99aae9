#!/usr/bin/env bash
# Installs the Debian 12 packages that building, linting and testing need. Asks dpkg first: when everything is there it does nothing.
#
#   scripts/install-deps.sh [SET ...]     sets: build lint test sanitize fuzz bench all; without one: build lint test
set -euo pipefail

# docs/dependencies.md says why each library is here.
build="g++ cmake ninja-build make ccache mold git libboost1.81-dev libssl-dev libsimdjson-dev
  libsqlite3-dev libyaml-dev libcli11-dev libtomlplusplus-dev node-llhttp libgtest-dev"
lint="clang-format-19 clang-tidy-19 shellcheck python3"
test="python3 python3-venv ca-certificates curl"
sanitize="clang-19 libclang-rt-19-dev llvm-19"
fuzz="$sanitize libfuzzer-19-dev"
bench="libbenchmark-dev nginx-light wrk"

usage() {
  sed -n '2,4p' "$0" | cut -c3-
}

fail() {
  echo "install-deps: $*" >&2
  exit 1
}

wanted=""
[ $# -gt 0 ] || set -- build lint test
for set in "$@"; do
  case "$set" in
    build) wanted+=" $build" ;;
    lint) wanted+=" $lint" ;;
    test) wanted+=" $test" ;;
    sanitize) wanted+=" $sanitize" ;;
    fuzz) wanted+=" $fuzz" ;;
    bench) wanted+=" $bench" ;;
    all) wanted+=" $build $lint $test $fuzz $bench" ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && fail "unknown set \"$set\"" ;;
  esac
done
# shellcheck disable=SC2086  # the sets are words
mapfile -t packages < <(printf '%s\n' $wanted | sort -u)

missing_packages() {
  # A package dpkg has never heard of is missing from its answer.
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^installed //p') || true
  comm -23 <(printf '%s\n' "${packages[@]}") <(sort -u <<<"$installed")
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "this needs apt (Debian 12). Elsewhere install by hand: ${packages[*]}"
fi
mapfile -t missing < <(missing_packages)
if [ "${#missing[@]}" -eq 0 ]; then
  echo "install-deps: all ${#packages[@]} packages are installed"
  exit 0
fi

# Other releases have other names and versions of these packages (libboost1.81-dev, clang-19).
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${ID:-?} ${VERSION_ID:-?}")
[ "$release" = "debian 12" ] || fail "this machine is \"$release\", the packages are Debian 12's; missing: ${missing[*]}"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "needs root, or sudo, to install: ${missing[*]}"
  as_root=(sudo)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq "$@" </dev/null
}

echo "install-deps: installing ${missing[*]}"
apt update
# A machine that runs no services must stay so: nginx is only here to be measured.
if [ ! -e /usr/sbin/policy-rc.d ] && [[ " ${missing[*]} " == *" nginx"* ]]; then
  trap '"${as_root[@]}" rm -f /usr/sbin/policy-rc.d' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee /usr/sbin/policy-rc.d >/dev/null
  "${as_root[@]}" chmod +x /usr/sbin/policy-rc.d
fi
apt install -y --no-install-recommends "${missing[@]}" >/dev/null

mapfile -t missing < <(missing_packages)
[ "${#missing[@]}" -eq 0 ] || fail "still missing: ${missing[*]}"
echo "install-deps: done"
