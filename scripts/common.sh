# SPDX-License-Identifier: Apache-2.0
# Shared by the other scripts, which source it in the package folder: Debian packages, build options,
# steps and their wall times.
# shellcheck shell=bash disable=SC2034
source scripts/packages.sh

# SwiftPM passes traits to the compiler in the order of a hashed set. Without deterministic hashing the
# order changes each time SwiftPM plans a build, and everything is compiled again.
export SWIFT_DETERMINISTIC_HASHING=1

# The traits of programs: SVG is drawn in a sandbox, with a library that is loaded when a file needs it.
# TRAITS=default,SVG,PDF adds PDF, whose library is under the GPL.
program_traits=${TRAITS:-default,SVG}
# The build options of tests. The build and each run must use the same, or everything is compiled again.
# CALOTYPE_OPTIMIZES_TESTS optimizes the modules that compute pixels; see Package.swift. Traces of crashes
# need only the lines, and LLVM's linker, which Swift brings, takes a third of the time of the system's.
test_build=(
    --explicit-target-dependency-import-check error
    -Xswiftc -warnings-as-errors -Xswiftc -gline-tables-only -Xswiftc -use-ld=lld
)
build_for_tests() { CALOTYPE_OPTIMIZES_TESTS=1 swift build "$@"; }
build_tests() { build_for_tests --build-tests "${test_build[@]}"; }

# The build options of tests with AddressSanitizer and UndefinedBehaviorSanitizer, for build_for_tests. A separate
# folder, because all options differ. Swift traps where C has undefined behaviour, so UndefinedBehaviorSanitizer is for
# C; its vptr check needs a library that Swift does not link.
sanitized_build=(
    "${test_build[@]}" --sanitize=address --scratch-path .build-asan
    -Xcc -fsanitize=undefined -Xcc -fno-sanitize=vptr -Xcc -fno-sanitize-recover=undefined
)
# With ThreadSanitizer, in a separate folder as well.
thread_build=("${test_build[@]}" --sanitize=thread --scratch-path .build-tsan)

# The build options of what only has to compile, with other traits than the tests: without an index and debug
# information it takes a seventh less.
traits_build=(--scratch-path .build-traits --disable-index-store -debug-info-format none)
# Packages beside this one that use its modules in release mode: in one folder, so that these are compiled once.
package_build=(--scratch-path .build-packages --configuration release -Xswiftc -enable-testing)

# Sets release_build, the build options of programs in release mode; all must use the same, or everything is
# compiled again.
set_release_build() {
    # With Swift's libraries linked statically, the command starts in two thirds of the time and runs on
    # machines without Swift. Debug information doubles the size of the programs and takes time to write;
    # profilers name functions without it.
    release_build=(
        --traits "$program_traits" --configuration release --static-swift-stdlib
        -debug-info-format none
        # Programs load no modules that need their symbols, the names of which take up to 4 MB.
        -Xlinker --no-export-dynamic
    )
    # Loading libstdc++ and libgcc, which the Swift runtime needs, takes a fifth of the remaining start time:
    # both are linked statically. Swift passes -lstdc++; a folder with only the archive precedes the others.
    # Image libraries stay shared, so that updates of the system reach them.
    local archive flag
    archive=$(clang -print-file-name=libstdc++.a 2>/dev/null || gcc -print-file-name=libstdc++.a || true)
    if [ -f "$archive" ]; then
        mkdir -p .build/static
        ln -sf "$archive" .build/static/libstdc++.a
        for flag in "-L$PWD/.build/static" -static-libgcc; do
            release_build+=(-Xswiftc -Xclang-linker -Xswiftc "$flag")
        done
    fi
}

# Builds products in release mode with the viewer, into .build-viewer/release; its trait compiles all modules again.
build_viewer() {
    local product program_traits=$program_traits,Viewer
    set_release_build
    for product in "$@"; do
        swift build --scratch-path .build-viewer "${release_build[@]}" --product "$product"
    done
}

# Test targets that run together, as regular expressions; all others form the third group. Tests that
# compute for minutes would block the cooperative threads that concurrency tests need.
decoding_suites='PixelsTests|InteropTests|EffectsTests|DrawingTests|TexturesTests|EncodedImagesTests|ImageCodecsTests|PlaceholdersTests|SpritesTests'
loading_suites='ImageLoadingTests|PhotoLibraryTests|DecoderSandboxTests|HTTPCachingTests|LoadSchedulingTests'

# The program of the tests that have been built, and how many tests it runs at a time. Without a limit it starts all
# of them: 2,600 threads and 1,400 open files for the tests of loading, and time limits that measure the whole group.
test_program=.build/debug/calotypePackageTests.xctest
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-16}

# Runs a test program, and ends it if a test hangs: a time limit of a test does not end what ignores cancellation.
run_test_program() { timeout --foreground --verbose 60m env --default-signal "$@"; }

# Runs tests that have been built, and repeats the failures at the end of the log. `swift test` would lock the
# build folder, so that groups of tests could not run at the same time.
run_tests() {
    local log status=0
    log=$(mktemp)
    # Tests interrupt programs, which inherit the signals that nohup and background jobs ignore.
    run_test_program "$test_program" --testing-library swift-testing "$@" 2>&1 |
        sed -u $'s/\e\\[[0-9;]*m//g' | tee "$log" || status=$?
    if ((status != 0)); then
        printf '\n== failed\n'
        grep -A 6 -E '✘|error:|Fatal error|rashed' "$log" | tail -n 80 || true
    fi
    rm -f "$log"
    return "$status"
}

test_count=0
skipped=()
# Adds the number of tests in a log to test_count, and what was skipped to skipped, with the reasons. Programs other than
# the Swift tests print "NAME: skipped: REASON".
note_tests() {
    local count line
    count=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' "$1" | tail -n 1)
    test_count=$((test_count + ${count:-0}))
    while read -r line; do skipped+=("$line"); done < <(
        sed -nE -e $'s/\e\\[[0-9;]*m//g' -e 's/^[^A-Za-z]*Test (.*) skipped(: (.*))?$/\1: \3/p' \
            -e 's/^[A-Za-z ]+: skipped: //p' "$1")
}
# Python programs write to a pipe, but their progress is to be read line by line.
export PYTHONUNBUFFERED=1

# step TITLE COMMAND [ARGUMENT]...: runs a command in a subshell, and records its wall time, tests and skips. A step
# that fails ends the script, unless it has set continues_after_failure; print_summary fails then.
step_times=()
failed_steps=()
continues_after_failure=
step() {
    local title=$1 start=$SECONDS status=0 log
    printf '\n== %s\n' "$title"
    shift
    log=$(mktemp)
    # The shell ignores `set -e` in a command whose status is tested, and in functions that it calls.
    set +e
    (
        set -e
        "$@"
    ) | tee "$log"
    status=$?
    set -e
    note_tests "$log"
    rm "$log"
    step_times+=("$((SECONDS - start)) $title")
    note_status "$status" "$title"
}
note_status() {
    (($1 != 0)) || return 0
    printf '\n== failed: %s\n' "$2"
    failed_steps+=("$2")
    [ -n "$continues_after_failure" ] || return "$1"
}

# later NAME COMMAND [ARGUMENT]...: starts a background job; `finish NAME TITLE` waits for it, prints its output and
# records it as a step. A step of `step` that runs meanwhile takes longer than alone.
jobs_folder=
later() {
    local name=$1
    shift
    if [ -z "$jobs_folder" ]; then
        jobs_folder=$(mktemp -d)
        trap end_jobs EXIT
    fi
    # A process group of its own, which end_jobs can end.
    set -m
    (
        # Expanded here: a command that fails ends in one of its functions, whose variables have other values.
        trap "printf %s \$((SECONDS - $SECONDS)) >'$jobs_folder/$name.seconds'" EXIT
        "$@"
    ) >"$jobs_folder/$name" 2>&1 &
    set +m
    printf '%s' "$!" >"$jobs_folder/$name.process"
}
finish() {
    local name=$1 title=$2 status=0
    wait "$(cat "$jobs_folder/$name.process")" || status=$?
    rm "$jobs_folder/$name.process"
    printf '\n== %s\n' "$title"
    cat "$jobs_folder/$name"
    note_tests "$jobs_folder/$name"
    step_times+=("$(cat "$jobs_folder/$name.seconds") $title, beside others")
    note_status "$status" "$title"
}
end_jobs() {
    local process
    for process in "$jobs_folder"/*.process; do
        [ ! -f "$process" ] || kill -- "-$(cat "$process")" 2>/dev/null || true
    done
    rm -rf "$jobs_folder"
}

# Prints the wall time of each step, slowest first, how many tests and parts of steps were skipped for each reason,
# and the totals. Fails if a step failed.
print_summary() {
    local outcome=Passed
    printf '\n== seconds, slowest first\n'
    printf '%s\n' "${step_times[@]}" | sort -rn | while read -r seconds title; do
        printf '%6d  %s\n' "$seconds" "$title"
    done
    if ((${#skipped[@]} > 0)); then
        printf '\n== skipped, by reason\n'
        printf '%s\n' "${skipped[@]}" | sed 's/.*": //' | sort | uniq -c | sort -rn
    fi
    if ((${#failed_steps[@]} > 0)); then
        outcome=Failed
        printf '\n== failed\n'
        printf '%s\n' "${failed_steps[@]}"
    fi
    printf '\n%s: %d Swift tests, %d steps (%d tests or parts skipped), %d min %02d s.\n' "$outcome" \
        "$test_count" "${#step_times[@]}" "${#skipped[@]}" $((SECONDS / 60)) $((SECONDS % 60))
    [ "$outcome" = Passed ]
}
