/* SPDX-License-Identifier: Apache-2.0 */
/* "hbf.coherence/1": who sees whose stores, and what it takes.
 *
 * A domain names its protocol as observed.  The host inserts flush and invalidate for software domains, and checks a
 * declaration by a short litmus run when it opens the device: running under a wrong mode is refused. */
#ifndef HBF_ABI_COHERENCE_H
#define HBF_ABI_COHERENCE_H

#include "basic.h"
#include "plugin.h"

HBF_BEGIN_C

#define HBF_EXT_COHERENCE "hbf.coherence/1"

typedef uint32_t hbf_protocol;
#define HBF_PROTOCOL_HARDWARE ((hbf_protocol)1) /* caches agree by themselves */
#define HBF_PROTOCOL_SOFTWARE ((hbf_protocol)2) /* stores need flush, reads need invalidate */

/* Agents, bits: between whom the protocol holds. */
#define HBF_AGENT_CPU 1u
#define HBF_AGENT_DEVICE 2u
#define HBF_AGENT_COPY_ENGINE 4u
#define HBF_AGENT_THIRD_PARTY 8u

typedef struct hbf_domain_info {
    uint32_t struct_size;
    hbf_protocol protocol;
    uint64_t granule;       /* bytes, a power of two: unit of flush and invalidate; in a software domain stores of two
                             * agents inside one granule may be lost */
    uint32_t agents;        /* HBF_AGENT_* bits */
    uint32_t atomic_widths; /* sum of widths in bytes with atomic loads and stores between the agents: 1+2+4+8 = 15 */
    char name[32];          /* NUL-terminated, unique in the instance */
    char detail[128];       /* how this was established */
} hbf_domain_info;
#define HBF_DOMAIN_INFO_MIN_SIZE 184u
HBF_CHECK_LAYOUT(hbf_domain_info, 184, detail);

typedef struct hbf_coherence_ext {
    uint32_t struct_size;
    uint32_t domain_count; /* fixed for the life of the instance */

    /* [any-thread] Facts; the same for the life of the instance.  An index past domain_count is HBF_INVALID. */
    hbf_status (*describe)(hbf_instance *instance, uint32_t domain, hbf_domain_info *out, hbf_error *error) HBF_NOEXCEPT;
} hbf_coherence_ext;
#define HBF_COHERENCE_EXT_MIN_SIZE 16u
HBF_CHECK_LAYOUT(hbf_coherence_ext, 16, describe);

HBF_END_C

#endif
