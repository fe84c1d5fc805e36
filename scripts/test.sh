#!/usr/bin/env bash
# Sets up and runs all tests on the same Release build that the demo uses.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/test.sh [ctest options]

Sets up and runs all tests, among them a build of the engine without libtorch and consumers of the
installed package. With options, for example -R Ledger, only what ctest then selects."

case ${1:-} in
-h | --help) usage "$help" ;;
esac

"$root/scripts/setup.sh"
cd "$root"
ctest --preset release "$@"
