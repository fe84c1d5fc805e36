#!/usr/bin/env bash
# Frees memory in every way on every class of machine, simulated, and writes down what came of it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/verify-matrix.sh [--check] [setup options]

Builds the program of the matrix, runs it and writes docs/verification.md. Fails, and writes
nothing, if something in the matrix is not as it must be.

  --check   only compare docs/verification.md with what the program says now

Setup options, for example --no-packages, are those of scripts/setup.sh."

mode=write options=()
for option in "$@"; do
    case $option in
    --check) mode=check ;;
    -h | --help) usage "$help" ;;
    *) options+=("$option") ;;
    esac
done

document=$root/docs/verification.md
"$root/scripts/setup.sh" --target verify_matrix "${options[@]}"
program=$root/build/release/bin/verify_matrix
if [ "$mode" = check ]; then
    "$program" --compare "$document"
    say "docs/verification.md is what the matrix says"
    exit 0
fi
# a page that is half written, or of a run that failed, must not take the place of a whole one
part=$root/build/verification.md.part
"$program" >"$part" || die "the matrix does not hold" "see the cells above"
mv "$part" "$document"
say "wrote docs/verification.md"
