#!/usr/bin/env bash
# All tests under a sanitizer: configures, builds and runs them.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/sanitize.sh address|thread [ctest options]

  address   everything under the address and undefined behaviour sanitizers
  thread    the parts without libtorch under the thread sanitizer"

case ${1:-} in
address) preset=asan ;;
thread) preset=tsan ;;
-h | --help) usage "$help" ;;
*) die "which sanitizer is not clear" "say: scripts/sanitize.sh address, or thread" ;;
esac
shift

"$root/scripts/setup.sh" --preset "$preset"
cd "$root"
ctest --preset "$preset" "$@"
