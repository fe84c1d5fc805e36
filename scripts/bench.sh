#!/usr/bin/env bash
# Measures what Ballast promises: each figure is printed beside its bound.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/bench.sh [NAME [options of that benchmark]]

Builds Release with the benchmarks and runs all of them, or the named one. Those that need a model
get one of the size of SD 1.5 with random weights, made once in build/bench (5 GB).
  --list   print the names"

# name: program, and the model it takes as its argument
declare -A programs=(
    [cli_startup]=bench_cli_startup [formats_header]=bench_formats_header
    [machine]=bench_machine [plan]=bench_plan [weights_load]=bench_weights_load
    [residency]=bench_residency_free
    [longest_layer]=bench_longest_layer [step]=step_program)
declare -A models=([weights_load]=fp16 [longest_layer]=fp16)
order=(cli_startup formats_header machine plan weights_load residency longest_layer step)

case ${1:-} in
-h | --help) usage "$help" ;;
--list)
    printf '%s\n' "${order[@]}"
    exit 0
    ;;
esac
[ $# -eq 0 ] || [ -n "${programs[$1]:-}" ] || die "there is no benchmark $1" "choose from: ${order[*]}"

"$root/scripts/setup.sh" --target all --target benchmarks
export OMP_WAIT_POLICY=passive
bin=$root/build/release/bin

# model TYPE [PART]: the path of a random model, made when it is not there
model() {
    local path=$root/build/bench/sd15-$1${2:+-$2}.safetensors
    if [ ! -f "$path" ]; then
        mkdir -p "${path%/*}"
        "$bin/random_sd15" "$path.part" "$1" "${2:-all}" >&2
        mv "$path.part" "$path"
    fi
    printf '%s' "$path"
}

# the step is timed against the same network in plain PyTorch; fp32 and fp16 files, and bf16 sums
compare_step() {
    local python=$root/.venv/bin/python size
    [ -x "$python" ] || die "the step is compared with PyTorch in .venv" \
        "run scripts/setup.sh without --torch"
    local fp32 fp16
    fp32=$(model fp32 unet)
    fp16=$(model fp16 unet)
    for size in 256 512; do
        compare "$python" "$size" fp32 "$fp32" --time-bound 1.00 "$@"
        compare "$python" "$size" fp32 "$fp16" --time-bound 1.03 --memory-bound 0.7 "$@"
        compare "$python" "$size" bf16 "$fp16" --time-bound 0.75 "$@"
    done
}
compare() {
    local python=$1 size=$2 compute=$3 file=$4
    shift 4
    say "$compute arithmetic, $(basename "$file"), ${size}x${size}"
    "$python" "$root/benchmarks/step/compare.py" --program "$bin/step_program" --file "$file" \
        --peer-file "$fp32" --size "$size" --compute "$compute" "$@"
}

run() {
    local name=$1
    shift
    say "== $name"
    if [ "$name" = step ]; then
        compare_step "$@"
    elif [ -n "${models[$name]:-}" ]; then
        "$bin/${programs[$name]}" "$(model "${models[$name]}")" "$@"
    else
        "$bin/${programs[$name]}" "$@"
    fi
}

if [ $# -gt 0 ]; then
    run "$@"
else
    for name in "${order[@]}"; do run "$name"; done
fi
