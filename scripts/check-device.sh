#!/usr/bin/env bash
# Finds out whether Ballast can be trusted with an accelerator of this machine.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

help="usage: scripts/check-device.sh DEVICE [options]

Builds what that takes and checks DEVICE (cuda:0, xpu:0, ...): the behaviour that every device must
show, a small network spread over it, the processor and disk against recorded results, a limit that
refuses a model, and a hundred rounds of loading and freeing. Prints a line with figures for each;
the exit status is 0 if all have passed. Takes minutes, most of them for the first build.

  --torch PATH    a libtorch built for the device (a folder with include/ and lib/; in a Python
                  environment: site-packages/torch). Remembered by the build
  --no-packages   do not look at system packages"

device='' options=()
while [ $# -gt 0 ]; do
    case $1 in
    --torch)
        [ $# -gt 1 ] || die "$1 lacks its value" "see scripts/check-device.sh --help"
        options+=(--torch "$2")
        shift
        ;;
    --no-packages) options+=(--no-packages) ;;
    -h | --help) usage "$help" ;;
    -*) die "unknown option $1" "see scripts/check-device.sh --help" ;;
    *)
        [ -z "$device" ] || die "there is more than one device" "check one after the other"
        device=$1
        ;;
    esac
    shift
done
[ -n "$device" ] || die "no device is named" "see scripts/check-device.sh --help"

"$root/scripts/setup.sh" --target device_check "${options[@]}"
# a device that hangs must not hang the check
OMP_WAIT_POLICY=passive timeout 300 "$root/build/release/bin/device_check" "$device"
