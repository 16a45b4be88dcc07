// SPDX-License-Identifier: Apache-2.0
// Needs a driver's library to be loaded at all.
extern "C" int cuInit(unsigned flags);

namespace {
[[gnu::used]] int (*const start)(unsigned) = cuInit;
} // namespace
