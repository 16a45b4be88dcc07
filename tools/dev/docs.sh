# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev docs: the documentation site, in build/docs/site, to be read from there without a network. A link that leads
# nowhere, a page that is missing and anything that Sphinx or Doxygen cannot resolve is an error.

dev_docs() {
    (($# == 0)) || fail "$exit_usage" "docs takes no arguments, got '$1'"
    # The man pages are printed by the command itself.
    plain_build docs
    compile build runtime
    local site=build/docs/site source=build/docs/source
    rm -rf "$site" "$source"
    mkdir -p "$site" "$source"
    HBF_VERSION=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build | head -n 1)
    export HBF_VERSION
    say 'Guides (sphinx-build)'
    tools/dev/docs_site.py gather "$source" build/tools/hbf
    sphinx-build -q -n -W --keep-going -E -d build/docs/doctrees -c docs/site "$source" "$site" ||
        fail 1 'sphinx-build found mistakes in the documents (above)'
    tools/dev/docs_site.py settle "$site"
    say 'API reference (doxygen)'
    doxygen docs/Doxyfile >build/docs/doxygen.log ||
        fail 1 'doxygen found mistakes in the documentation (above)' 'its log is build/docs/doxygen.log'
    say 'Links of the site'
    tools/dev/docs_site.py check "$site" || fail 1 'the site has links that lead nowhere (above)'
    note "open $site/index.html"
}
