/* SPDX-License-Identifier: Apache-2.0 */
/* Linked against, and not there when the plugin is loaded. */
int hostile_absent(void);
int hostile_absent(void) {
    return 1;
}
