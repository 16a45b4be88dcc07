# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Configures and compiles one build folder for each kind of build.

readonly build_space_mib=1500

# ninja starts the compiler later, by itself: what ccache has to know stands in the environment of every command. By the
# compiler's list of headers it knows what a file depends on; the preprocessor need not run first.
# A precompiled header is known by the checksum that its target writes beside it (tools/dev/pch).
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$root CCACHE_DEPEND=1 CCACHE_PCH_EXTSUM=1
export CCACHE_SLOPPINESS=pch_defines,time_macros # without, it keeps nothing that a precompiled header goes into
if [[ -z ${CCACHE_DIR:-} && ! -w ${HOME:-/nonexistent} ]]; then export CCACHE_DIR=$root/.cache/ccache; fi

# The first g++ that knows enough C++20; Ubuntu 22.04's own "g++" is version 11, beside it g++-12 can be installed.
find_gcc() {
    local candidate
    for candidate in g++ g++-14 g++-13 g++-12; do
        if have "$candidate" && (($("$candidate" -dumpversion | cut -d. -f1) >= 12)); then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "$exit_undecided" 'no g++ of version 12 or newer was found'
}

# compilers [NAME]: sets CC and CXX, through ccache where it is installed.
compilers() {
    local cxx=${1:-} cc cache=''
    case $cxx in
        '') cxx=${CXX:-$(find_gcc)} cc=${CC:-} ;;
        clang*) cc=$cxx cxx=${cxx/clang/clang++} ;;
        gcc*) cc=$cxx cxx=${cxx/gcc/g++} ;;
        *) fail "$exit_usage" "unknown compiler '$cxx'" 'give a name like gcc, gcc-12 or clang-19' ;;
    esac
    [[ -n ${cc:-} ]] || cc=${cxx/clang++/clang} cc=${cc/g++/gcc}
    have "${cxx##* }" || fail "$exit_undecided" "compiler '$cxx' was not found"
    if have ccache && [[ $cxx != ccache* ]]; then cache='ccache '; fi
    export CC="$cache$cc" CXX="$cache$cxx"
    # Five times as quick as ld where an executable is large; every clang of Debian looks for its own.
    if [[ $cxx == clang* && -x $("$cxx" -print-prog-name=ld.lld) ]]; then export CC_LD=lld CXX_LD=lld; fi
}

# build_folder SANITIZER COMPILER: where such a build lives.
build_folder() {
    case $1:$2 in
        :) echo build ;;
        address:) echo build-asan ;;
        thread:) echo build-tsan ;;
        :*) echo "build-$2" ;;
        *) echo "build-$1-$2" ;;
    esac
}

# cache_for FOLDER: what clang precompiles names the folder it was compiled in, and is of use there only.
cache_for() {
    if grep -q -e -fno-pch-timestamp "$1/compile_commands.json"; then unset CCACHE_NOHASHDIR; fi
}

# configure FOLDER SANITIZER COMPILER [MESON_OPTION...]. Sanitizer builds are not optimised much: compiling is most of
# their cost.
configure() {
    local folder=$1 options=() more=("${@:4}")
    local again=(ninja -C "$folder" build.ninja) # does something only if a meson.build changed
    if [[ -f $folder/build.ninja ]]; then
        # Made when a library was not there yet: look again. GoogleTest may have come without us.
        if ((packages_installed)) ||
            { ((${#more[@]} == 0)) && ! grep -q libgtest "$folder/build.ninja"; }; then
            again=(meson setup --reconfigure "$folder")
        fi
        "${again[@]}" >"$folder/configure.log" 2>&1 && cache_for "$folder" && return
        tail -n 15 "$folder/configure.log" >&2
        fail "$exit_undecided" "meson could not configure $folder again after a change" \
            "its whole log is $folder/meson-logs/meson-log.txt; ./dev clean starts anew"
    fi
    require_space . "$build_space_mib" 'a build'
    case $2 in
        address) options=(-Db_sanitize='address,undefined' -Db_lundef=false -Doptimization=0
            -Dc_args=-fno-omit-frame-pointer -Dcpp_args=-fno-omit-frame-pointer) ;;
        thread) options=(-Db_sanitize=thread -Db_lundef=false -Doptimization=1) ;;
    esac
    # Another compiler is there to refuse what the first accepts: it need not optimise.
    [[ -z $3 || -n $2 ]] || options=(-Doptimization=0)
    say "Configuring $folder"
    if [[ -d $folder/meson-private ]]; then rm -rf -- "$folder"; fi # left by a configuration that did not end
    compilers "$3"
    meson setup "$folder" "${options[@]}" "${more[@]}" >"$folder.log" 2>&1 || {
        tail -n 15 "$folder.log" >&2
        rm -f "$folder.log"
        fail "$exit_undecided" "meson could not configure $folder" "its whole log is $folder/meson-logs/meson-log.txt"
    }
    mv "$folder.log" "$folder/configure.log"
    sed -n '/^Message: /s/^Message: /    /p' "$folder/configure.log" >&2
    cache_for "$folder"
}

# compile FOLDER [TARGET...]
compile() {
    local folder=$1 code=0
    shift
    require_space . 200 'compiling'
    say "Building in $folder"
    ninja -C "$folder" "$@" >&2 || code=$?
    ((code == 0)) || fail "$exit_undecided" "the build in $folder failed (ninja exit code $code)" \
        'the first message above with "error:" or "FAILED:" is the cause'
}
