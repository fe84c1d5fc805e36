#!/usr/bin/env bash
# Formatting and static analysis of what changed, or of everything.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/lint.sh [--all] [--fix] [--format-only]

Checks the files that differ from the main branch with clang-format and clang-tidy.

  --all           check all files
  --fix           let clang-format rewrite them
  --format-only   no clang-tidy and no shellcheck (seconds instead of minutes)"

which=changed repair="scripts/lint.sh --fix" mode=check tidy=yes
for option in "$@"; do
    case $option in
    --all) which=all repair="scripts/lint.sh --fix --all" ;;
    --fix) mode=fix ;;
    --format-only) tidy=no ;;
    -h | --help) usage "$help" ;;
    *) die "unknown option $option" "see scripts/lint.sh --help" ;;
    esac
done

# The chosen files that match the patterns, one per line, by their path from the root.
chosen_files() {
    if [ "$which" = all ]; then
        git ls-files -- "$@"
        return
    fi
    local base
    base=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || say HEAD)
    {
        git diff --name-only --diff-filter=d "$base" -- "$@"
        git ls-files --others --exclude-standard -- "$@"
    } | sort -u
}

cd "$root"
mapfile -t sources < <(chosen_files '*.cpp' '*.hpp')
mapfile -t units < <(chosen_files '*.cpp')
mapfile -t shell < <(chosen_files 'scripts/*.sh' .ci/run)

has clang-format-19 || need_packages clang-format-19
if [ "${#sources[@]}" -gt 0 ]; then
    if [ "$mode" = fix ]; then
        clang-format-19 -i "${sources[@]}"
    else
        clang-format-19 --dry-run --Werror "${sources[@]}" ||
            die "some files are not formatted" "run $repair"
    fi
fi
say "format: ${#sources[@]} files"
[ "$tidy" = yes ] || exit 0

has shellcheck || need_packages shellcheck
[ "${#shell[@]}" -eq 0 ] || shellcheck -x "${shell[@]}"
say "shellcheck: ${#shell[@]} files"

has clang-tidy-19 || need_packages clang-tidy-19
"$root/scripts/setup.sh" --preset dev --no-build
# only what the build compiles has the flags that clang-tidy needs
compiled=()
for unit in "${units[@]}"; do
    if grep -qF "\"$root/$unit\"" build/dev/compile_commands.json; then compiled+=("$unit"); fi
done
if [ "${#compiled[@]}" -gt 0 ]; then
    printf '%s\0' "${compiled[@]}" |
        xargs -0 -n 1 -P "$(parallel_jobs)" clang-tidy-19 --quiet --warnings-as-errors='*' -p build/dev ||
        die "clang-tidy has complaints" "mend them, or silence one with NOLINT(check-name) and a reason"
fi
say "clang-tidy: ${#compiled[@]} files"
