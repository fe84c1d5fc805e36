#!/usr/bin/env bash
# Runs the fuzz targets: random input against every reader of files and texts.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/fuzz.sh [SECONDS [TARGET...]]

Builds the fuzz targets of tests/fuzz with clang-16 and libFuzzer and runs each for SECONDS
(default 60), two at a time where there are cores for it. What earlier runs found interesting is
kept in build/fuzz/corpus and used again.
  --list   print the targets

Ends with an error when a target crashes, hangs, leaks or breaks its rule; the input that did it is
then in build/fuzz/found."

packages=(
    clang-16 libclang-rt-16-dev cmake ninja-build ccache
    libexpected-dev libfmt-dev libspdlog-dev nlohmann-json3-dev
    libpng-dev libjpeg-dev libutf8proc-dev zlib1g-dev libhwloc-dev
)
build_dir="$root/build/fuzz"

available() {
    find "$root/tests/fuzz" -name '*.cpp' -not -path '*/support/*' -printf '%f\n' | sed 's/\.cpp$//' | sort
}

case ${1:-} in
-h | --help) usage "$help" ;;
--list)
    available
    exit 0
    ;;
esac
seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "'$seconds' is no number of seconds" "see scripts/fuzz.sh --help"
[ $# -eq 0 ] || shift
mapfile -t known < <(available)
targets=("$@")
[ $# -gt 0 ] || targets=("${known[@]}")
for target in "${targets[@]}"; do
    grep -qxF -- "$target" <<<"$(available)" ||
        die "there is no fuzz target $target" "choose from: ${known[*]}"
done

if has dpkg-query; then need_packages "${packages[@]}"; fi
has clang++-16 || die "clang++-16 is missing" "install clang 16 with its fuzzer library"
if [ ! -f "$build_dir/build.ninja" ]; then
    say "configuring build/fuzz"
    (cd "$root" && logged cmake --preset fuzz) || {
        cat "$log_file" >&2
        die "cmake could not configure build/fuzz" "see its message above"
    }
fi
ninja -C "$build_dir" -j "$(parallel_jobs)" "${targets[@]/#/fuzz_}" ||
    die "the build in build/fuzz failed" "see the compiler's message above"

# seeds_of TARGET: the files that its line `// Seeds:` names.
seeds_of() {
    local source pattern patterns
    source=$(find "$root/tests/fuzz" -name "$1.cpp")
    read -ra patterns <<<"$(sed -n 's#^// Seeds: *##p' "$source" | paste -sd ' ')"
    for pattern in "${patterns[@]}"; do
        compgen -G "$root/$pattern" ||
            die "$pattern, a seed of $1, matches nothing" "correct the line Seeds in ${source#"$root"/}"
    done
}

# run_target TARGET: its report goes to a file, which is shown when it matters.
run_target() {
    local corpus="$build_dir/corpus/$1" seeds="$build_dir/seeds/$1" report="$build_dir/$1.log" files
    rm -rf "$seeds"
    mkdir -p "$corpus" "$seeds" "$build_dir/found"
    files=$(seeds_of "$1") || return 1
    if [ -n "$files" ]; then xargs -d '\n' cp -t "$seeds" <<<"$files"; fi
    if "$build_dir/bin/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$build_dir/found/$1-" "$corpus" "$seeds" \
        >"$report" 2>&1; then
        say "$1: nothing found in $(sed -n 's/^stat::number_of_executed_units: *//p' "$report") runs"
        return 0
    fi
    # the fuzzer's own progress lines begin with # and say nothing about the fault
    grep -v '^#' "$report" | tail -n 60
    say "$1: found something; see $report, again with: $build_dir/bin/fuzz_$1 FILE"
    return 1
}

# names in back traces come from binutils, which every compiler brings along
symbolizer=$(command -v addr2line || true)
export ASAN_OPTIONS="allow_addr2line=1:external_symbolizer_path=$symbolizer"
export UBSAN_OPTIONS="print_stacktrace=1:$ASAN_OPTIONS"
failed=()
running=0
declare -A target_of
await_one() {
    local pid=""
    wait -n -p pid || failed+=("${target_of[$pid]}")
    running=$((running - 1))
}
for target in "${targets[@]}"; do
    [ "$running" -lt "$(parallel_jobs)" ] || await_one
    run_target "$target" &
    target_of[$!]=$target
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do await_one; done
[ "${#failed[@]}" -eq 0 ] || die "fuzzing found faults in: ${failed[*]}" "the inputs are in $build_dir/found"
