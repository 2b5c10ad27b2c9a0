# SPDX-License-Identifier: Apache-2.0
# What the goals have in common: packages, how Swift is called, steps and their times. Sourced by the
# other scripts, in the folder of the package.
# shellcheck shell=bash disable=SC2034
source scripts/packages.sh

# SwiftPM hands traits to the compiler in the order of a set. Without this it is another order each time
# that it plans, as it does when any variable of the environment has changed, and everything is
# compiled again.
export SWIFT_DETERMINISTIC_HASHING=1

# How tests are built: the same for the build and for each run, or it would be built again. The modules
# that compute pixels are optimized; see Package.swift.
test_build=(--explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors)
build_tests() { CALOTYPE_OPTIMIZES_TESTS=1 swift build --build-tests "${test_build[@]}"; }

# Suites that run together, as a regular expression; the third group is all others. Those that compute
# for minutes would keep the few threads from those that wait for one another.
decoding_suites='PixelsTests|EncodedImagesTests|ImageCodecsTests'
loading_suites='ImageLoadingTests|DecoderSandboxTests'

# Runs tests that are built; what failed comes last again, where someone who sees only the end of it
# finds it.
run_tests() {
    local log status=0
    log=$(mktemp)
    CALOTYPE_OPTIMIZES_TESTS=1 swift test --skip-build "${test_build[@]}" "$@" 2>&1 |
        tee "$log" || status=$?
    if ((status != 0)); then
        printf '\n== failed\n'
        grep -A 6 -E '✘|error:|Fatal error|rashed' "$log" | tail -n 80 || true
    fi
    note_tests "$log"
    rm -f "$log"
    return "$status"
}

test_count=0
skipped=()
# Counts what Swift Testing says that it ran, and keeps what it skipped, with the reason.
note_tests() {
    local count line
    count=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$1" | tail -n 1)
    test_count=$((test_count + ${count:-0}))
    while read -r line; do skipped+=("$line"); done < <(
        sed -nE 's/^[^A-Za-z]*Test (.*) skipped(: (.*))?$/\1: \3/p' "$1")
}

# step TITLE COMMAND [ARGUMENT]...: runs it and notes its time.
step_times=()
step() {
    local title=$1 start=$SECONDS
    printf '\n== %s\n' "$title"
    shift
    "$@"
    step_times+=("$((SECONDS - start)) $title")
}

# Prints the times of the steps, slowest first, what was skipped, and a last line with the sums.
print_summary() {
    printf '\n== seconds, slowest first\n'
    printf '%s\n' "${step_times[@]}" | sort -rn | while read -r seconds title; do
        printf '%6d  %s\n' "$seconds" "$title"
    done
    if ((${#skipped[@]} > 0)); then
        printf '\n== skipped\n'
        printf '%s\n' "${skipped[@]}"
    fi
    printf '\nAll is well: %d tests of Swift, of which %d were skipped, and %d steps in %d:%02d minutes.\n' \
        "$test_count" "${#skipped[@]}" "${#step_times[@]}" $((SECONDS / 60)) $((SECONDS % 60))
}
