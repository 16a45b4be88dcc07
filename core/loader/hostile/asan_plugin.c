/* SPDX-License-Identifier: Apache-2.0 */
/* Built with the address sanitizer, whatever the host is: its runtime ends a process that was not built so. */
const void *hbf_plugin_query(void);
const void *hbf_plugin_query(void) {
    return 0;
}
