#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./dev says and how it ends: wrong usage, and a machine on which packages are missing.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
failed=0

# expect CODE WORDS COMMAND...: the command ends with CODE and says WORDS.
expect() {
    local code=0 want=$1 words=$2 said
    shift 2
    said=$("$@" 2>&1 </dev/null) || code=$?
    if ((code != want)) || [[ $said != *"$words"* ]]; then
        printf 'expected exit code %d and "%s" from: %s\nbut got %d and:\n%s\n\n' "$want" "$words" "$*" "$code" "$said" >&2
        failed=1
    fi
}

expect 0 'demo' ./dev help
expect 0 'demo' ./dev
expect 0 'FILTER' ./dev test --help
expect 0 '--glibc' ./dev bundle --help
expect 0 'debootstrap' ./dev deb --help
expect 0 '--emulate' ./dev device --help
expect 2 "unknown argument '--glibc=new'" ./dev bundle --glibc=new
expect 2 "unknown argument 'all'" ./dev deb all
expect 2 'runs what it packed' ./dev device --hbf /bin/true
expect 0 '77' tools/device_check.sh --help
expect 2 "unknown argument '--fast'" tools/device_check.sh --fast
expect 2 "--seconds 'soon'" tools/device_check.sh --seconds soon
expect 2 'no hbf is here' tools/device_check.sh --hbf /nowhere
expect 2 "unknown command 'frobnicate'" ./dev frobnicate
expect 2 'unknown sanitizer' ./dev test --sanitize=memory
expect 2 "unknown option '--fast'" ./dev test --fast
expect 2 'more than one filter' ./dev test one two
expect 2 'unknown argument' ./dev lint --everything
expect 2 "no group 'toys'" ./dev packages build toys
expect 2 "unknown compiler 'tcc'" ./dev test --compiler=tcc

# A machine that has nothing: dpkg-query knows no package.
printf '#!/bin/sh\nexit 1\n' >"$fake/dpkg-query"
printf '#!/bin/sh\necho "apt-get must not be called" >&2; exit 9\n' >"$fake/apt-get"
chmod +x "$fake"/*
export PATH="$fake:$PATH"
expect 3 'libboost-dev' ./dev --no-install demo
expect 3 'Boost.DLL (headers only), which opens plugins' ./dev demo --no-install
expect 3 'apt-get install --no-install-recommends' ./dev --no-install test
if [[ $(./dev --no-install demo 2>&1 || true) == *libgtest-dev* ]]; then
    echo 'the demo asks for packages that only the tests need' >&2
    failed=1
fi

# An installation that fails: the cause is said.
cat >"$fake/apt-get" <<'END'
#!/bin/sh
case "$*" in
    *install*) echo 'E: You don'\''t have enough free space; No space left on device' >&2; exit 100 ;;
esac
END
printf '#!/bin/sh\nexec "$@"\n' >"$fake/sudo"
chmod +x "$fake/sudo"
offers() { # VERSION: what apt-cache says of every package
    cat >"$fake/apt-cache" <<END
#!/bin/sh
shift
for name; do printf '%s:\n  Candidate: $1\n' "\$name"; done
END
}
offers 9:99
chmod +x "$fake/apt-cache"
expect 3 'the disk is full' ./dev demo
offers '(none)'
expect 3 'does not offer: ca-certificates' ./dev demo

exit "$failed"
