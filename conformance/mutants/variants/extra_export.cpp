// SPDX-License-Identifier: Apache-2.0
// One more symbol that others can bind to.
extern "C" __attribute__((visibility("default"))) int hbf_helper();
int hbf_helper() {
    return 1;
}
