#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# made.sh HEADER PRECOMPILED: PRECOMPILED is there. Makes HEADER, which is empty; and beside PRECOMPILED, where there is one,
# its checksum: ccache reads that for each file which includes it (CCACHE_PCH_EXTSUM), and not all of its 100 MB.
set -eu
if [ -e "$2" ]; then
    sum=$(sha256sum <"$2")
    printf '%s\n' "$sum" >"$2.sum"
fi
: >"$1"
