# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test: builds and runs the tests; the last line is "N passed, N failed".

test_usage() {
    cat <<'END'
Usage: ./dev test [--sanitize=address|thread] [--compiler=NAME] [--suite=NAME] [--arch=aarch64] [FILTER]

Builds and runs every test, then says "N passed, N failed". Each GoogleTest case counts as one.

  --sanitize=address  with AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer, in build-asan
  --sanitize=thread   the suite "tsan" with ThreadSanitizer, in build-tsan
  --compiler=NAME     with another compiler, such as clang-19, in build-NAME
  --suite=NAME[,NAME]  only these suites, such as core
  --arch=aarch64      cross-compiled, run by qemu-user, in build-aarch64
  FILTER              only test programs whose name contains FILTER (* and ? are wildcards);
                      where none does, only the cases whose name contains it

Exit code: 0 all passed, 1 something failed or nothing ran, 2 wrong usage, 3 could not build.
END
}

# ThreadSanitizer cannot map its shadow when the kernel randomises addresses too widely; without randomisation it can.
tsan_wrapper() {
    if have setarch && setarch -R true 2>/dev/null; then echo 'setarch -R'; fi
}

dev_test() {
    local sanitize='' compiler='' suite='' arch='' filter=''
    while (($#)); do
        case $1 in
            --sanitize=address | --sanitize=thread) sanitize=${1#*=} ;;
            --sanitize*) fail "$exit_usage" "unknown sanitizer in '$1'" 'give --sanitize=address or --sanitize=thread' ;;
            --compiler=?*) compiler=${1#*=} ;;
            --suite=?*) suite=${1#*=} ;;
            --arch=aarch64) arch=aarch64 ;;
            --no-install) allow_install=0 ;;
            -h | --help) test_usage && return ;;
            -*) fail "$exit_usage" "unknown option '$1'" 'see ./dev test --help' ;;
            *)
                [[ -z $filter ]] || fail "$exit_usage" "more than one filter: '$filter' and '$1'"
                filter=$1
                ;;
        esac
        shift
    done
    if [[ -n $arch ]]; then
        [[ -z $sanitize$compiler ]] || fail "$exit_usage" '--arch goes with neither --sanitize nor --compiler'
        cross_test "$filter"
        return
    fi

    need build test
    [[ $compiler != clang* ]] || need clang
    [[ $sanitize != thread || -n $suite ]] || suite=tsan
    local folder arguments=()
    folder=$(build_folder "$sanitize" "$compiler")
    configure "$folder" "$sanitize" "$compiler"
    [[ -z $suite ]] || arguments+=(--suite "$suite")
    [[ -z $filter ]] || arguments+=(--filter "$filter")
    case $sanitize in
        address)
            export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1:abort_on_error=0:strict_string_checks=1
            export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
            arguments+=(--timeout-multiplier 4)
            ;;
        thread)
            export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
            arguments+=(--timeout-multiplier 6 --wrapper "$(tsan_wrapper)")
            ;;
    esac
    say "Testing in $folder"
    tools/dev/run_tests.py "$folder" "${arguments[@]}"
}
