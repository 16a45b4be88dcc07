/* SPDX-License-Identifier: Apache-2.0 */
/* The header as a C program sees it, and what it does with it: called by c_api_test.cpp. */
#include <string.h>

#include "hbf/kv.h"

int32_t c_opens_with(uint64_t struct_size, const char *settings, char *text, uint64_t size);
int32_t c_drops_nothing(void);

int32_t c_opens_with(uint64_t struct_size, const char *settings, char *text, uint64_t size) {
    hbf_kv_options options;
    hbf_kv_cache *cache = NULL;
    hbf_kv_message message = {text, size};
    int32_t code;
    memset(&options, 0, sizeof options);
    options.struct_size = struct_size == 0 ? sizeof options : struct_size;
    options.layers = options.query_heads = options.kv_heads = 1;
    options.head_dim = 16;
    options.settings = settings;
    code = hbf_kv_open(&options, &cache, message);
    hbf_kv_close(cache);
    return code;
}

int32_t c_drops_nothing(void) {
    hbf_kv_message nobody = {NULL, 0};
    hbf_kv_close(NULL);
    hbf_kv_sequence_drop(NULL);
    return hbf_kv_append(NULL, NULL, 0, nobody);
}
