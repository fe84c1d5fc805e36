#!/usr/bin/env bash
# Makes a checkout ready to run: installs what is missing, fetches libtorch, configures, builds.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/setup.sh [options]

Installs the system packages that are missing (with apt), puts the pinned libtorch into .venv,
configures and builds. Run again, it does only what is left to do.

  --preset NAME   dev, release (default), asan, tsan (no libtorch) or coverage
  --torch PATH    use this libtorch (a folder with include/ and lib/) instead of fetching one;
                  remembered by the build. The variable BALLAST_TORCH_ROOT does the same
  --target NAME   build only this target (repeatable)
  --no-packages   do not look at system packages
  --no-build      stop after configuring"

packages=(
    g++ cmake ninja-build ccache mold
    libexpected-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libpng-dev libjpeg-dev libutf8proc-dev zlib1g-dev
    libhwloc-dev
    libgtest-dev libgmock-dev libbenchmark-dev
)

# at the root of a wheel or of a libtorch archive: which version is it?
version_of_torch() {
    local header="$1/include/torch/headeronly/version.h"
    [ -f "$header" ] || return 0
    sed -nE 's/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' "$header" | paste -sd . -
}

check_torch() {
    local version
    version=$(version_of_torch "$1")
    [ -n "$version" ] ||
        die "there is no libtorch in $1" "name the folder that has include/ and lib/ (in a Python environment: site-packages/torch)"
    [ "${version%.*}" = "${pinned%.*}" ] ||
        die "libtorch in $1 is version $version, Ballast needs ${pinned%.*}" "install torch==$pinned there or leave out --torch"
}

# The libtorch that this build was configured with by the user, if it is still there.
remembered_torch() {
    local cache="$root/build/$preset/CMakeCache.txt" path
    [ -f "$cache" ] || return 0
    path=$(sed -n 's/^BALLAST_TORCH_ROOT:PATH=//p' "$cache")
    if [ -d "$path/lib" ]; then say "$path"; fi
}

python_with_venv() {
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            say "$python"
            return
        fi
    done
}

# Installs the pinned torch into the checkout's own environment; only its libtorch is used.
fetch_torch() {
    need_disk 3
    local python
    python=$(python_with_venv)
    if [ -z "$python" ]; then
        [ "$look_at_packages" = no ] || need_packages python3 python3-venv
        python=$(python_with_venv)
        [ -n "$python" ] || die "Python has no venv module" "install python3-venv"
    fi
    say "installing torch $pinned into .venv (a few minutes; only its libtorch is used)"
    # an environment that was cut short, or whose Python has gone, is made anew
    "$root/.venv/bin/python" -c 'import pip' 2>/dev/null ||
        logged "$python" -m venv --clear "$root/.venv" ||
        die "cannot make a Python environment in $root/.venv" "$(because_of_the_log)"
    logged "$root/.venv/bin/python" -m pip install --disable-pip-version-check \
        --no-input "torch==$pinned" ||
        die "pip could not install torch $pinned" "$(because_of_the_log)"
}

find_torch() {
    if [ -z "$torch" ]; then torch=$(remembered_torch); fi
    if [ -n "$torch" ]; then
        check_torch "$torch"
        return
    fi
    local candidates=("$root"/.venv/lib/python3*/site-packages/torch)
    [ "$(version_of_torch "${candidates[0]}")" = "$pinned" ] || fetch_torch
}

check_tools() {
    for tool in g++ cmake ninja ccache; do
        has "$tool" || die "$tool is missing" "install it, or run scripts/setup.sh without --no-packages"
    done
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*//p')
    at_least 3.25 "$version" ||
        die "cmake is version $version, Ballast needs 3.25" "use Debian 12 or newer, or install a newer cmake"
    version=$("${CXX:-g++}" -dumpfullversion)
    [ -n "${CXX:-}" ] || at_least 12 "$version" ||
        die "g++ is version $version, Ballast needs 12" "use Debian 12 or newer, or set CXX to a newer compiler"
}

preset=release torch=${BALLAST_TORCH_ROOT:-} look_at_packages=yes build=yes targets=()
while [ $# -gt 0 ]; do
    case $1 in
    --preset | --torch | --target)
        [ $# -gt 1 ] || die "$1 lacks its value" "see scripts/setup.sh --help"
        case $1 in
        --preset) preset=$2 ;;
        --torch) torch=$2 ;;
        --target) targets+=("$2") ;;
        esac
        shift
        ;;
    --no-packages) look_at_packages=no ;;
    --no-build) build=no ;;
    -h | --help) usage "$help" ;;
    *) die "unknown option $1" "see scripts/setup.sh --help" ;;
    esac
    shift
done
case $preset in
dev | release | asan | tsan | coverage) ;;
*) die "unknown preset $preset" "choose dev, release, asan, tsan or coverage" ;;
esac
if [ -n "$torch" ]; then
    [ -d "$torch" ] || die "there is no folder $torch" "correct --torch or BALLAST_TORCH_ROOT"
    torch=$(cd -- "$torch" && pwd)
fi
unset BALLAST_TORCH_ROOT # from here on the choice is explicit
pinned=$(sed -n 's/^set(BALLAST_TORCH_PINNED "\(.*\)")$/\1/p' "$root/cmake/torch.cmake")
build_dir="$root/build/$preset"

[ -f "$build_dir/build.ninja" ] || need_disk 2
if [ "$look_at_packages" = yes ]; then need_packages "${packages[@]}"; fi
check_tools
if [ "$preset" != tsan ]; then find_torch; fi

if [ ! -f "$build_dir/build.ninja" ] || { [ -n "$torch" ] && [ "$torch" != "$(remembered_torch)" ]; }; then
    say "configuring build/$preset"
    (cd "$root" && logged cmake --preset "$preset" ${torch:+"-DBALLAST_TORCH_ROOT=$torch"}) || {
        cat "$log_file" >&2
        die "cmake could not configure build/$preset" "see its message above"
    }
fi
if [ "$build" = yes ]; then
    ninja -C "$build_dir" -j "$(parallel_jobs)" "${targets[@]}" ||
        die "the build in build/$preset failed" "see the compiler's message above"
fi
