/* SPDX-License-Identifier: Apache-2.0 */
/* A good library that is no plugin. */
int hbf_plugin_querx(void);
int hbf_plugin_querx(void) {
    return 0;
}
