#!/usr/bin/env bash
# Measures what Ballast promises: each figure is printed beside its bound.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/bench.sh [NAME [options of that benchmark]]

Builds Release with the benchmarks and runs all of them, or the named one.
  --list   print the names"

available() { find "$root/build/release/bin" -maxdepth 1 -name 'bench_*' -type f -printf '%f\n' | sed 's/^bench_//' | sort; }

case ${1:-} in
-h | --help) usage "$help" ;;
esac

"$root/scripts/setup.sh" --target all --target benchmarks
mapfile -t names < <(available)
[ "${#names[@]}" -gt 0 ] || die "no benchmark was built" "see benchmarks/CMakeLists.txt"
if [ "${1:-}" = --list ]; then
    printf '%s\n' "${names[@]}"
    exit 0
fi

export OMP_WAIT_POLICY=passive
if [ $# -gt 0 ]; then
    name=$1
    shift
    [ -x "$root/build/release/bin/bench_$name" ] ||
        die "there is no benchmark $name" "choose from: ${names[*]}"
    exec "$root/build/release/bin/bench_$name" "$@"
fi
for name in "${names[@]}"; do
    say "== $name"
    "$root/build/release/bin/bench_$name"
done
