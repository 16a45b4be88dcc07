/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest library with the entry symbol, for tests that try each of its bytes. */
const void *hbf_plugin_query(void);
const void *hbf_plugin_query(void) {
    return 0;
}
