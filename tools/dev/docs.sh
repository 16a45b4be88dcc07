# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev docs: reference pages of the public headers. Anything Doxygen cannot read or resolve is an error.

dev_docs() {
    (($# == 0)) || fail "$exit_usage" "docs takes no arguments, got '$1'"
    need docs
    mkdir -p build/docs
    say 'Reference pages (doxygen)'
    HBF_VERSION=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build | head -n 1)
    export HBF_VERSION
    doxygen docs/Doxyfile >build/docs/doxygen.log ||
        fail 1 'doxygen found mistakes in the documentation (above)' 'its log is build/docs/doxygen.log'
    note "open build/docs/html/index.html"
}
