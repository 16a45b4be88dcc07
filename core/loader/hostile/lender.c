/* SPDX-License-Identifier: Apache-2.0 */
/* A dependency that happens to have the entry symbol. */
const void *hbf_plugin_query(void);
const void *hbf_plugin_query(void) {
    return 0;
}
