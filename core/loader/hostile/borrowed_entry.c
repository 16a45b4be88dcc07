/* SPDX-License-Identifier: Apache-2.0 */
/* Has the entry symbol only through a dependency. */
const void *hbf_plugin_query(void);
const void *borrow(void);
const void *borrow(void) {
    return hbf_plugin_query();
}
