/* SPDX-License-Identifier: Apache-2.0 */
/* What the host offers a plugin: facts about itself and a log.  A plugin never writes to stdout or stderr. */
#ifndef HBF_ABI_HOST_H
#define HBF_ABI_HOST_H

#include "basic.h"

HBF_BEGIN_C

typedef uint32_t hbf_log_level;
#define HBF_LOG_DEBUG ((hbf_log_level)0)
#define HBF_LOG_INFO ((hbf_log_level)1)
#define HBF_LOG_WARNING ((hbf_log_level)2)
#define HBF_LOG_ERROR ((hbf_log_level)3)

/* Sanitizer kinds: a plugin built with one loads only into a host built with the same. */
#define HBF_SANITIZER_NONE 0u
#define HBF_SANITIZER_ADDRESS 1u
#define HBF_SANITIZER_THREAD 2u
#define HBF_SANITIZER_MEMORY 3u

/* Owned by the host; valid until the instance it was given to is destroyed (in probe: until probe returns).  Neither
 * function may be NULL, throws, or calls back into the plugin. */
typedef struct hbf_host_services {
    uint32_t struct_size;
    uint32_t reserved;
    void *context;
    /* [any-thread] Never blocks for long; copies `message`. */
    void (*log)(void *context, hbf_log_level level, hbf_string message) HBF_NOEXCEPT;
    /* [any-thread] Lowest level that is kept; ask before building an expensive message. */
    hbf_log_level (*log_level)(void *context) HBF_NOEXCEPT;
} hbf_host_services;
#define HBF_HOST_SERVICES_MIN_SIZE 32u
HBF_CHECK_LAYOUT(hbf_host_services, 32, log_level);

/* Given to hbf_plugin_query; valid during the call. */
typedef struct hbf_host_info {
    uint32_t struct_size;
    uint32_t abi_min;   /* oldest ABI version this host still serves */
    uint32_t sanitizer; /* HBF_SANITIZER_* */
    uint32_t reserved;
    hbf_string name;    /* "hbf" or the embedding program's */
    hbf_string version; /* "0.1.0" */
} hbf_host_info;
#define HBF_HOST_INFO_MIN_SIZE 48u
HBF_CHECK_LAYOUT(hbf_host_info, 48, version);

HBF_END_C

#endif
