// SPDX-License-Identifier: Apache-2.0
// Stands for a driver's library.
extern "C" __attribute__((visibility("default"))) int cuInit(unsigned flags);
int cuInit(unsigned flags) {
    return flags == 0 ? 0 : 1;
}
