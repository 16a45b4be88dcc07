#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI runs, and what to run before a change goes out. Needs a C++20 compiler, meson, ninja, pkg-config and an installed
# HBF: "hbf" in PATH, hbf-plugin-sdk.pc where pkg-config looks.
set -eu
cd "$(dirname "$0")"

hbf --version
rm -rf build-ci build-ci-sanitized

echo '== build without a warning, unit tests, hbf plugin check, conformance'
meson setup build-ci -Dwerror=true
meson test -C build-ci --print-errorlogs

# A plugin built with a sanitizer loads into a host built with the same one only, so here the unit tests run alone.
echo '== unit tests under the address and undefined behaviour sanitizers'
meson setup build-ci-sanitized -Db_sanitize=address,undefined -Db_lundef=false -Dhbf=disabled
meson test -C build-ci-sanitized --print-errorlogs

echo 'ci.sh: passed'
