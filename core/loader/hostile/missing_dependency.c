/* SPDX-License-Identifier: Apache-2.0 */
/* Needs a library that is not there. */
int hostile_absent(void);
const void *hbf_plugin_query(void);
const void *hbf_plugin_query(void) {
    return hostile_absent() ? "" : 0;
}
