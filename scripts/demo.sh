#!/usr/bin/env bash
# From a fresh checkout to a picture: sets up, runs the demo workflow, says where the picture is.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/demo.sh [setup options]

Sets up (see scripts/setup.sh --help), runs data/demo/workflow.json with the model that comes with
Ballast, and says where the picture is and how long each part took."

case ${1:-} in
-h | --help) usage "$help" ;;
esac

# figure KEY: one number of the report, in seconds.
figure() { sed -nE "s/.*\"$1\" *: *([0-9.eE+-]+).*/\1/p" "$report" | head -n 1; }

"$root/scripts/setup.sh" "$@"
setup_seconds=$SECONDS

report="$root/build/demo-report.json"
"$root/build/release/bin/ballast" run "$root/data/demo/workflow.json" \
    --models "$root/data/demo/models" --output "$root/output" --report "$report"

picture=$(sed -nE 's/.*"path" *: *"([^"]+)".*/\1/p' "$report" | head -n 1)
LC_ALL=C printf 'picture: %s\nseconds: setup %d, load %.2f, sample %.2f, decode %.2f\n' \
    "$picture" "$setup_seconds" "$(figure load)" "$(figure sample)" "$(figure decode)"
