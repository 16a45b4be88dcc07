/* SPDX-License-Identifier: Apache-2.0 */
/* The right name on the wrong kind of thing. */
extern const int hbf_plugin_query;
const int hbf_plugin_query = 1;
