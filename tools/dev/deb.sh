# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev deb: Debian packages.

deb_usage() {
    cat <<'END_OF_USAGE'
Usage: ./dev deb [--test | --test=debootstrap]

Makes the Debian packages hbf, libhbf0 and libhbf-dev of this checkout in build/deb, for the release and architecture of
this machine. What was compiled for ./dev test is taken from the compiler cache.

  --test              also install, use, remove and purge them, in a copy-on-write view of this system (as root)
  --test=debootstrap  the same in a fresh minimal system, with packages from the mirror

Exit code: 0 made (and passed), 1 a test failed, 2 wrong usage, 3 could not be made, 77 made, but cannot be tested here.
END_OF_USAGE
}

dev_deb() {
    local test='' version listed tree out=$root/build/deb code=0
    while (($#)); do
        case $1 in
            --test) test=here ;;
            --test=debootstrap) test=debootstrap ;;
            --no-install) allow_install=0 ;;
            -h | --help) deb_usage && return ;;
            *) fail "$exit_usage" "unknown argument '$1'" 'see ./dev deb --help' ;;
        esac
        shift
    done
    is_debian || fail "$exit_undecided" 'packages for Debian are made on Debian or Ubuntu' \
        './dev bundle makes a tarball for any Linux'
    need build deb
    version=$(project_version)
    listed=$(dpkg-parsechangelog -l packaging/debian/changelog --show-field Version)
    [[ $listed == "$version" ]] ||
        fail 1 "packaging/debian/changelog begins with version $listed, meson.build has $version" \
            'add an entry for this version'

    # debhelper wants its folder at the top, and leaves its traces there: it works on a copy.
    tree=$root/build-deb/hbf-$version
    rm -rf -- "$root/build-deb"
    mkdir -p "$tree" "$out"
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
    done | tar --null --files-from=- --create | tar --extract --directory="$tree"
    cp -r packaging/debian "$tree/debian"

    say "Building the packages of version $version (its log: build/deb/log)"
    compilers ''
    # debhelper gives the build a home of its own.
    if have ccache; then CCACHE_DIR=$(ccache --get-config=cache_dir) && export CCACHE_DIR; fi
    (cd "$tree" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-noautodbgsym}" dpkg-buildpackage --build=binary --no-sign) \
        >"$out/log" 2>&1 || code=$?
    if ((code)); then
        tail -n 30 "$out/log" >&2
        fail "$exit_undecided" "the packages could not be built (dpkg-buildpackage exit code $code)" "its log is $out/log"
    fi
    rm -f -- "$out"/*.deb
    if have lintian; then
        lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$root"/build-deb/*.changes >&2 || code=1
    fi
    mv "$root"/build-deb/*.deb "$out/"
    rm -rf -- "$root/build-deb"
    (cd "$out" && for deb in *.deb; do note "$out/$deb: $(($(stat -c %s "$deb") >> 10)) KiB"; done)
    ((code == 0)) || fail 1 'lintian found errors or warnings (above)'
    case $test in
        here) packaging/debian/deb_test.sh "$out" ;;
        debootstrap) packaging/debian/deb_test.sh --debootstrap "$out" ;;
    esac
}
