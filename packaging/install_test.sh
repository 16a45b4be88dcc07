#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty folder and uses what is there as others would: a program against hbf.pc, a plugin in C11 against
# hbf-plugin-sdk.pc, the hbf command. Also the layout, the sonames, and the size of the stripped library.
#
#   install_test.sh BUILD_FOLDER SOURCE_FOLDER PREFIX LIBDIR      (CC and CXX in the environment)
set -euo pipefail

build=$1 source=$2 prefix=$3 libdir=$4
readonly max_library_bytes=$((4 * 1024 * 1024))

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
failed=0
wrong() {
    printf 'install: %s\n' "$*" >&2
    failed=1
}

DESTDIR=$stage meson install -C "$build" --no-rebuild --quiet >/dev/null
top=$stage$prefix
lib=$top/$libdir

for file in "$top/bin/hbf" "$lib/libhbf.so.0" "$lib/libhbf.so" "$lib/hbf/hbf-probe" "$lib/hbf/plugins/host.plugin.toml" \
    "$lib/hbf/plugins/hbf_plugin_host.so" "$top/include/hbf/abi.h" "$top/include/hbf/abi/plugin.h" \
    "$top/include/hbf/system.hpp" "$top/include/hbf/sdk/plugin.hpp" "$top/share/hbf/plugin.map" \
    "$top/share/hbf/template/meson.build" \
    "$top/share/man/man1/hbf.1" "$top/share/man/man1/hbf-probe.1" "$top/share/bash-completion/completions/hbf" \
    "$top/share/zsh/site-functions/_hbf" "$top/share/fish/vendor_completions.d/hbf.fish" \
    "$lib/pkgconfig/hbf.pc" "$lib/pkgconfig/hbf-plugin-sdk.pc"; do
    [[ -e $file ]] || wrong "missing: ${file#"$stage"}"
done
# The plugins that this build has.
for plugin in "$build"/plugins/*/hbf_plugin_*.so; do
    name=${plugin##*/hbf_plugin_}
    name=${name%.so}
    for file in "hbf_plugin_$name.so" "$name.plugin.toml"; do
        [[ -e $lib/hbf/plugins/$file ]] || wrong "missing: $file"
    done
    # What tests ran is what goes out, to the byte.
    cmp -s "$plugin" "$lib/hbf/plugins/hbf_plugin_$name.so" || wrong "not the file that was built: hbf_plugin_$name.so"
done
while IFS= read -r file; do wrong "does not belong into an installation: ${file#"$stage"}"; done < <(
    find "$stage" -path "$top/share/hbf/template" -prune -o -type f \
        \( -name '*_test*' -o -name '*.a' -o -name 'test_*' -o -name '*.cpp' \) -print
    find "$top/include" -type f ! -name '*.h' ! -name '*.hpp')
((failed == 0)) || exit 1

soname() { readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'; }
[[ $(soname "$lib/libhbf.so") == libhbf.so.0 ]] || wrong "soname of libhbf.so is '$(soname "$lib/libhbf.so")'"

# The linker resolves plugins' and vendors' libraries at run time only; whoever links one needs it on every machine.
for file in "$lib/libhbf.so" "$lib"/hbf/plugins/*.so; do
    if readelf -d "$file" | grep -E 'NEEDED.*(cuda|nvidia|hip|rocm|hsa|cnrt|cndrv|ze_loader|OpenCL)'; then
        wrong "$(basename "$file") links a vendor's library"
    fi
done

# The command uses both libraries as everybody does. A copy of one inside it would be a second one in the same process.
if nm -C --defined-only "$build/tools/hbf" | grep -E ' [TtWw] hbf::(System|kv::KvCache)::open\('; then
    wrong 'hbf carries a copy of libhbf or libhbf-kv'
fi

strip -o "$stage/stripped.so" "$lib/libhbf.so"
bytes=$(stat -c %s "$stage/stripped.so")
printf 'libhbf.so stripped: %d bytes (limit %d)\n' "$bytes" "$max_library_bytes"
((bytes <= max_library_bytes)) || wrong "libhbf.so stripped has $bytes bytes, the limit is $max_library_bytes"

export PKG_CONFIG_LIBDIR=$lib/pkgconfig
flags() { pkg-config --define-variable=prefix="$top" "$@"; }
warnings=(-Wall -Wextra -Wpedantic -Werror)

# A program. CC and CXX may be two words (ccache g++).
# shellcheck disable=SC2086,SC2046
$CXX -std=c++20 "${warnings[@]}" "$source/consumer.cpp" $(flags --cflags --libs hbf) -o "$stage/consumer"
said=$(LD_LIBRARY_PATH=$lib "$stage/consumer") || wrong "a program linked to libhbf ended with exit code $?"
printf '%s\n' "$said"
[[ $(head -n 1 <<<"$said") == "$(pkg-config --modversion hbf)" ]] || wrong 'hbf.pc and hbf::version() disagree'
grep -qE '^[1-9][0-9]* tiers$' <<<"$said" || wrong 'the program found no tier'

# A plugin.
# shellcheck disable=SC2086,SC2046
$CC -std=c11 "${warnings[@]}" -shared -fPIC "$source/plugin_in_c.c" $(flags --cflags --libs hbf-plugin-sdk) \
    -o "$stage/in_c.so"
exported=$(nm -D --defined-only "$stage/in_c.so" | awk '{ print $3 }')
[[ $exported == hbf_plugin_query ]] || wrong "a plugin in C exports: $exported"
# shellcheck disable=SC2086,SC2046
for header in "$top"/include/hbf/sdk/*.hpp "$top"/include/hbf/*.hpp; do
    $CXX -std=c++20 "${warnings[@]}" -fsyntax-only -x c++ $(flags --cflags hbf-plugin-sdk) -include "$header" /dev/null ||
        wrong "${header#"$stage"} does not compile alone"
done

# The command, run from where it lies: it finds its library and its plugins beside itself.
[[ $(env -u LD_LIBRARY_PATH "$top/bin/hbf" --version | head -n 1) == *"$(pkg-config --modversion hbf)"* ]] ||
    wrong 'hbf --version does not say the version of hbf.pc'
env -u LD_LIBRARY_PATH -u HBF_PLUGINS -u HBF_PLUGIN_PATH -u HBF_PLUGIN_PIN XDG_CACHE_HOME="$stage/cache" \
    "$top/bin/hbf" probe --json >"$stage/probe.json" || wrong "the installed hbf probe ended with exit code $?"
grep -q "\"$lib/hbf/plugins/" "$stage/probe.json" || wrong 'hbf probe did not choose the installed plugin'

# An emulated machine of the installation's own, with the plugin of the installation.
if [[ -e $lib/hbf/emulators/nvidia ]]; then
    env -u LD_LIBRARY_PATH -u HBF_PLUGINS -u HBF_PLUGIN_PATH -u HBF_PLUGIN_PIN XDG_CACHE_HOME="$stage/cache" \
        "$top/bin/hbf" emulate h100x4 -- hbf conformance --profile quick --filter abi.query --no-preflight \
        --json - >"$stage/emulated.json" || wrong "the suite on an emulated machine ended with exit code $?"
    sum=$(sha256sum "$lib/hbf/plugins/hbf_plugin_nvidia.so")
    grep -q "\"sha256\": \"${sum%% *}\"" "$stage/emulated.json" ||
        wrong 'on h100x4 another plugin ran than the installed one'
fi

exit "$failed"
