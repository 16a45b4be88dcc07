// SPDX-License-Identifier: Apache-2.0
// A target needs a source; what is wanted is its precompiled header.
