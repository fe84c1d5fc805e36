# Shared by the scripts of this folder. Sourced by them, never run: it sets `root` (the checkout)
# and defines how to speak, how to fail and how to get what is missing.
# shellcheck shell=bash

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
log_file="$root/build/setup.log"

say() { printf '%s\n' "$*"; }

# die WHAT-AND-WHY REMEDY: one line on standard error, and the end.
die() {
    printf 'error: %s; %s\n' "$1" "$2" >&2
    exit 1
}

# usage TEXT: how the script is called, as asked for by --help.
usage() {
    say "$1"
    exit 0
}

has() { command -v "$1" >/dev/null 2>&1; }

# at_least WANTED ACTUAL: compares version numbers.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# logged COMMAND...: runs it with its output in the log, which is shown only when it matters.
logged() {
    mkdir -p "${log_file%/*}"
    "$@" >"$log_file" 2>&1 </dev/null
}

# because_of_the_log: the likely reason for a failure that `logged` kept, and what to do about it.
because_of_the_log() {
    if grep -qiE 'no space left|not enough free space|disk quota' "$log_file"; then
        say "the disk is full; free 3 GB and run this again"
    elif grep -qiE 'temporary failure|could not resolve|name resolution|connection|timed out|unreachable|max retries|failed to fetch' "$log_file"; then
        say "the network did not answer; check it (and the proxy settings) and run this again"
    else
        say "the details are in $log_file"
    fi
}

# free_gigabytes: whole GB free where the checkout lies.
free_gigabytes() { df -Pk "$root" | awk 'NR == 2 { print int($4 / 1000000) }'; }

# need_disk GB: stops before a download or build that could not end well.
need_disk() {
    local free
    free=$(free_gigabytes)
    [ "$free" -ge "$1" ] ||
        die "only $free GB are free in $root, setting up needs $1 GB" "free some space and run this again"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# missing_packages NAME...: those that dpkg does not know as installed.
missing_packages() {
    local known
    known=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for package in "$@"; do
        grep -qxF "installed $package" <<<"$known" || say "$package"
    done
}

# need_packages NAME...: installs the missing ones of these Debian packages.
need_packages() {
    if ! has dpkg-query || ! has apt-get; then
        die "this system has no apt, only Debian and its relatives are set up by this script" \
            "install the equivalents of: $* and pass --no-packages"
    fi
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ] && ! has sudo; then
        die "packages are missing and there is no sudo" \
            "run as root: apt-get install -y --no-install-recommends ${missing[*]}"
    fi
    say "installing system packages: ${missing[*]}"
    # a foreign, broken package source makes `update` fail without harm to ours
    logged as_root apt-get update -q || true
    logged as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}" ||
        die "apt-get could not install ${missing[*]}" "$(because_of_the_log)"
}

# parallel_jobs: one compiler per core, but no more than memory has room for.
parallel_jobs() {
    local cores gigabytes
    cores=$(nproc)
    gigabytes=$(awk '/^MemAvailable:/ { print int($2 / 1000000) }' /proc/meminfo)
    [ "$gigabytes" -ge "$cores" ] || cores=$((gigabytes > 0 ? gigabytes : 1))
    say "$cores"
}
