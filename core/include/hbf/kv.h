/* SPDX-License-Identifier: Apache-2.0 */
/* KV memory over tiers for C and for bindings (libhbf-kv): what hbf/kv.hpp does, with handles and codes. C11.
 *
 * Codes are those of hbf/abi/basic.h (HBF_OK is 0). Every function that can fail takes a buffer for a sentence, which may be
 * NULL: it is cut to `size` and ends with a zero. Strings in are zero-terminated UTF-8, read before the function returns.
 * No exception leaves a function. A sequence is used by one thread at a time, a cache by any number. */
#ifndef HBF_KV_H
#define HBF_KV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define HBF_KV_NOEXCEPT noexcept
#else
#define HBF_KV_NOEXCEPT
#endif

#if defined(__GNUC__)
#define HBF_KV_API __attribute__((visibility("default")))
#else
#define HBF_KV_API
#endif

typedef struct hbf_kv_cache hbf_kv_cache;       /* owned by who opened it: hbf_kv_close */
typedef struct hbf_kv_sequence hbf_kv_sequence; /* owned by who made it: hbf_kv_sequence_drop */

typedef struct hbf_kv_message {
    char *text;    /* NULL: not wanted */
    uint64_t size; /* bytes of text */
} hbf_kv_message;

#define HBF_KV_FP16 0u
#define HBF_KV_BF16 1u
#define HBF_KV_FP32 2u

#define HBF_KV_HBM 0u
#define HBF_KV_HBF 1u
#define HBF_KV_COLD 2u

typedef struct hbf_kv_options {
    uint64_t struct_size; /* sizeof(hbf_kv_options) */
    uint32_t layers, query_heads, kv_heads, head_dim;
    uint32_t element;                          /* HBF_KV_FP16, ... */
    uint32_t head_groups;                      /* 0: one */
    float scale;                               /* of a score; 0: 1 / sqrt(head_dim) */
    uint32_t reserved;                         /* 0 */
    uint8_t model[32];                         /* digest of the weights */
    const char *settings;                      /* path of an h3.toml, NULL: the files and variables that hbf/kv.hpp names */
    const char *device;                        /* plugin whose first device is used, NULL: the one that was selected first */
    uint64_t hbm_bytes, hbf_bytes, cold_bytes; /* budgets; 0: as the settings say */
} hbf_kv_options;

/* Opens the host's devices and a cache over the tiers of one of them. */
HBF_KV_API int32_t hbf_kv_open(const hbf_kv_options *options, hbf_kv_cache **cache, hbf_kv_message message) HBF_KV_NOEXCEPT;
/* Sequences may outlive the handle; the memory goes with the last of them. With cold_storage.path in the settings blocks
 * that can be found again are written to the cold log then. NULL is nothing. */
HBF_KV_API void hbf_kv_close(hbf_kv_cache *cache) HBF_KV_NOEXCEPT;
/* Writes them now, and says whether that went well. *blocks: how many are in the log now. May be NULL. */
HBF_KV_API int32_t hbf_kv_save(hbf_kv_cache *cache, uint64_t *blocks, hbf_kv_message message) HBF_KV_NOEXCEPT;

/* With the longest known prefix of the prompt (hbf_kv_tokens says how much). `tenant`: NULL is the same as "". */
HBF_KV_API int32_t hbf_kv_sequence_open(hbf_kv_cache *cache, const uint32_t *prompt, uint64_t tokens, const char *tenant,
                                        hbf_kv_sequence **sequence, hbf_kv_message message) HBF_KV_NOEXCEPT;
HBF_KV_API int32_t hbf_kv_sequence_fork(const hbf_kv_sequence *of, hbf_kv_sequence **sequence,
                                        hbf_kv_message message) HBF_KV_NOEXCEPT;
HBF_KV_API void hbf_kv_sequence_drop(hbf_kv_sequence *sequence) HBF_KV_NOEXCEPT; /* NULL is nothing */

HBF_KV_API uint64_t hbf_kv_tokens(const hbf_kv_sequence *sequence) HBF_KV_NOEXCEPT; /* that every layer has */
HBF_KV_API int32_t hbf_kv_append(hbf_kv_sequence *sequence, const uint32_t *tokens, uint64_t count,
                                 hbf_kv_message message) HBF_KV_NOEXCEPT;
/* Rows of the step's tokens; `bytes` of keys, and as many of values. */
HBF_KV_API int32_t hbf_kv_put(hbf_kv_sequence *sequence, uint32_t layer, const void *keys, const void *values,
                              uint64_t bytes, hbf_kv_message message) HBF_KV_NOEXCEPT;
HBF_KV_API int32_t hbf_kv_read(hbf_kv_sequence *sequence, uint32_t layer, uint64_t first, uint64_t count, void *keys,
                               void *values, uint64_t bytes, hbf_kv_message message) HBF_KV_NOEXCEPT;
/* `numbers` = query_heads * head_dim, of the query and of the output. */
HBF_KV_API int32_t hbf_kv_attend(hbf_kv_sequence *sequence, uint32_t layer, const float *query, float *output,
                                 uint64_t numbers, hbf_kv_message message) HBF_KV_NOEXCEPT;
HBF_KV_API int32_t hbf_kv_truncate(hbf_kv_sequence *sequence, uint64_t tokens, hbf_kv_message message) HBF_KV_NOEXCEPT;
/* *moved: blocks that are in the tier now. May be NULL. */
HBF_KV_API int32_t hbf_kv_move_to(hbf_kv_sequence *sequence, uint32_t tier, uint64_t *moved,
                                  hbf_kv_message message) HBF_KV_NOEXCEPT;
/* Full blocks stay in the tiers where they are for so long; at most half of a tier can be pinned. *pinned: blocks that are
 * now. May be NULL. */
HBF_KV_API int32_t hbf_kv_pin(hbf_kv_sequence *sequence, uint64_t milliseconds, uint64_t *pinned,
                              hbf_kv_message message) HBF_KV_NOEXCEPT;
/* What is asked now: head_dim numbers for each query head, or for each KV head. Blocks near to it count as hotter. */
HBF_KV_API int32_t hbf_kv_set_query_vector(hbf_kv_sequence *sequence, const float *query, uint64_t numbers,
                                           hbf_kv_message message) HBF_KV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
