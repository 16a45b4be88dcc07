/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest plugin, in C11, from the installed ABI headers alone: it can be queried and finds no device. */
#include <hbf/abi.h>

int hidden_by_the_linker_script(void);
int hidden_by_the_linker_script(void) {
    return 1;
}

static hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *error) {
    (void)in, (void)error;
    out->device_count = 0;
    return HBF_UNAVAILABLE;
}

static hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) {
    (void)in, (void)error;
    *out = NULL;
    return HBF_UNAVAILABLE;
}

static void destroy(hbf_instance *instance) {
    (void)instance;
}

static const void *get_extension(hbf_instance *instance, hbf_string id) {
    (void)instance, (void)id;
    return NULL;
}

static const hbf_plugin plugin = {
    .struct_size = sizeof(hbf_plugin),
    .abi_version = HBF_ABI_VERSION,
    .name = "in_c",
    .vendor = "",
    .version = "0.1.0",
    .description = "finds no device",
    .compiler = "",
    .build_id = "",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .get_extension = get_extension,
};

const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max, const hbf_host_info *host);
const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max, const hbf_host_info *host) {
    return host != NULL && host_abi_max >= HBF_ABI_VERSION ? &plugin : NULL;
}
