# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bundle: a tarball that runs wherever it is unpacked.

bundle_usage() {
    cat <<'END_OF_USAGE'
Usage: ./dev bundle [--test] [--glibc=VERSION]

Makes build/hbf-VERSION-linux-ARCH.tar.gz and its .sha256: bin/hbf, libhbf, plugins, headers and the plugin SDK, which run on
any Linux of this machine's architecture that has glibc, with nothing else installed. What was compiled for ./dev test is
taken from the compiler cache. The same commit gives the same bytes.

  --test           also unpack and run it: by another user, with an empty environment, in a root that has glibc alone
  --glibc=VERSION  the oldest glibc it has to run with (default 2.36); a bundle never runs with an older one than that of
                   the system it was made on needs, so make bundles to give away on Debian 12

Exit code: 0 made (and passed), 1 a test failed, 2 wrong usage, 3 could not be made.
END_OF_USAGE
}

# Written in one place, so that bundle and package say the same.
project_version() { sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build | head -n 1; }

# Of the last commit; not the hour of packing, or the same sources would give other bytes.
source_date() { printf '%s\n' "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"; }

# carry_copyrights FOLDER: for each part of others that is inside, a line in a table and the copyright file of its package.
carry_copyrights() {
    local part packages how licence package found file version
    mkdir -p "$1"
    {
        printf 'What of others is inside this bundle. The files beside this one have the texts of the licences.\n\n'
        while IFS='|' read -r part packages how licence; do
            found=''
            for package in $packages; do
                file=/usr/share/doc/$package/copyright
                [[ ! -r $file ]] || { found=$package && break; }
            done
            [[ -n $found ]] || fail "$exit_undecided" \
                "no copyright file of $part: /usr/share/doc/${packages// /|}/copyright" \
                'a bundle carries the licences of what is in it, as Debian and Ubuntu install them'
            # shellcheck disable=SC2016 # dpkg-query's own syntax
            version=$(dpkg-query -W -f='${Version}' "$found")
            cp --dereference "$file" "$1/$found.copyright"
            printf '%s %s\n    %s\n    licence: %s; %s.copyright\n' "$part" "$version" "$how" "$licence" "$found"
        done < <(grep -v '^#' packaging/bundle/third_party.txt | sed 's/ *| */|/g; s/ *$//')
        printf '\nA part under the LGPL may be replaced: ./dev bundle links the sources of HBF with another version of it.\n'
    } >"$1/README"
}

# stage_bundle FOLDER GLIBC: what the tarball holds, below FOLDER.
stage_bundle() {
    local tree=$1 version arch commit
    version=$(project_version) arch=$(uname -m)
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo 'no commit')
    [[ -z $(git status --porcelain 2>/dev/null) ]] || commit+=' and changes'
    DESTDIR=$tree/.installed meson install -C build-bundle --no-rebuild --quiet >/dev/null ||
        fail "$exit_undecided" 'meson install failed' 'its messages stand above'
    mv "$tree/.installed/hbf"/* "$tree"
    rm -r "$tree/.installed"
    mkdir -p "$tree/include/tl"
    cp /usr/include/tl/expected.hpp "$tree/include/tl/" # hbf/system.hpp includes it
    cp LICENSE CHANGELOG.md "$tree/"
    sed -e "s/@VERSION@/$version/g; s/@ARCH@/$arch/g; s/@COMMIT@/$commit/g; s/@GLIBC@/$2/g" packaging/bundle/README.in \
        >"$tree/README"
    carry_copyrights "$tree/share/doc/hbf/third-party"
    chmod -R u=rwX,go=rX "$tree"
}

# pack FOLDER NAME OUT: the same bytes whoever packs, whenever.
pack() {
    tar --directory="$1" --sort=name --format=gnu --mtime="@$(source_date)" --owner=root:0 --group=root:0 --numeric-owner \
        -cf - "$2" | gzip -9n >"$3"
}

dev_bundle() {
    local test=0 glibc=2.36 stage name out bytes
    while (($#)); do
        case $1 in
            --test) test=1 ;;
            --glibc=[0-9]*.[0-9]*) glibc=${1#*=} ;;
            --no-install) allow_install=0 ;;
            -h | --help) bundle_usage && return ;;
            *) fail "$exit_usage" "unknown argument '$1'" 'see ./dev bundle --help' ;;
        esac
        shift
    done
    need build bundle
    name=hbf-$(project_version)-linux-$(uname -m)
    out=$root/build/$name.tar.gz
    configure build-bundle '' '' -Dbundle=true -Dtests=disabled -Dbenchmarks=disabled \
        -Dhwloc=disabled -Dpkgconfig.relocatable=true --prefix=/hbf --libdir=lib
    compile build-bundle runtime

    say "Packing $name"
    stage=$root/build-bundle/stage
    rm -rf -- "$stage"
    mkdir -p "$stage/$name" build
    stage_bundle "$stage/$name" "$glibc"
    packaging/bundle/check.py --glibc "$glibc" --built-in "$root" "$stage/$name" >&2 ||
        fail "$exit_undecided" 'this would not run wherever it is unpacked (above)' \
            'a newer glibc than asked for: make the bundle on Debian 12, or name that version with --glibc=VERSION'
    pack "$stage" "$name" "$out"
    bytes=$(stat -c %s "$out")
    ((bytes < 64 << 20)) || fail "$exit_undecided" "$out has $bytes bytes, a bundle has less than 64 MiB"
    (cd build && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
    rm -rf -- "$stage"
    note "$out: $((bytes >> 10)) KiB, SHA-256 $(cut -d' ' -f1 "$out.sha256")"
    ((!test)) || packaging/bundle/bundle_test.sh "$out"
}
