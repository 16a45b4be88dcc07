/* SPDX-License-Identifier: Apache-2.0 */
/* "hbf.tier/1": the memory and storage a device offers, and regions in it.
 *
 * A tier states facts (capacity, granule, alignment, who can reach it).  A region is a range in one tier.  Storage is a
 * tier like any other: its regions are reached by queue commands only. */
#ifndef HBF_ABI_TIER_H
#define HBF_ABI_TIER_H

#include "basic.h"
#include "plugin.h"

HBF_BEGIN_C

#define HBF_EXT_TIER "hbf.tier/1"

/* A region of one instance; 0 is never valid.  A handle of a freed region is refused with HBF_INVALID, also after its
 * slot was used again (so it carries a generation). */
typedef uint64_t hbf_region;

/* The part a tier plays.  One plugin may have several of a kind. */
typedef uint32_t hbf_tier_kind;
#define HBF_TIER_HBM ((hbf_tier_kind)1)  /* smallest, fastest: what attention reads (on a host: near DRAM) */
#define HBF_TIER_HBF ((hbf_tier_kind)2)  /* warm: coherent or near memory */
#define HBF_TIER_COLD ((hbf_tier_kind)3) /* bounded by cost only */

/* What it is made of. */
typedef uint32_t hbf_media;
#define HBF_MEDIA_UNKNOWN ((hbf_media)0)
#define HBF_MEDIA_HBM ((hbf_media)1)
#define HBF_MEDIA_DRAM ((hbf_media)2)
#define HBF_MEDIA_CXL ((hbf_media)3)
#define HBF_MEDIA_PEER ((hbf_media)4)   /* another device's memory over a device link */
#define HBF_MEDIA_PINNED ((hbf_media)5) /* pinned host memory, used by a device */
#define HBF_MEDIA_BLOCK ((hbf_media)6)  /* block device */
#define HBF_MEDIA_FILE ((hbf_media)7)   /* files in a directory */
#define HBF_MEDIA_OBJECT ((hbf_media)8) /* object store */

/* Who reaches the bytes, bits. */
#define HBF_ACCESS_CPU 1u    /* CPU load/store through map */
#define HBF_ACCESS_DEVICE 2u /* the device's own kernels */
#define HBF_ACCESS_DMA 4u    /* queue commands */

#define HBF_TIER_FLAG_PERSISTENT 1u /* named regions outlive the process */
#define HBF_TIER_FLAG_NUMA_BOUND 2u /* pages are placed on numa_node, verified */
#define HBF_TIER_FLAG_DEGRADED 4u   /* works, but not the best way; `detail` says why (no O_DIRECT, ...) */

#define HBF_TIER_NONE UINT32_MAX
#define HBF_DOMAIN_NONE UINT32_MAX

typedef struct hbf_tier_info {
    uint32_t struct_size;
    hbf_tier_kind kind;
    hbf_media media;
    uint32_t reality;            /* HBF_REALITY_* */
    uint32_t access;             /* HBF_ACCESS_* bits */
    uint32_t flags;              /* HBF_TIER_FLAG_* bits */
    int32_t numa_node;           /* -1 unknown */
    uint32_t coherence_domain;   /* index in hbf.coherence/1, or HBF_DOMAIN_NONE */
    uint32_t extended_by;        /* tier index that takes what does not fit, or HBF_TIER_NONE */
    uint32_t line_size;          /* cache line in bytes; 0 if none applies */
    uint64_t capacity;           /* bytes */
    uint64_t available;          /* bytes now, a hint */
    uint64_t granule;            /* bytes: allocation sizes are rounded up to this */
    uint64_t alignment;          /* bytes, a power of two: every region starts at least so aligned */
    uint64_t copy_alignment;     /* bytes: offsets and sizes so aligned take the fast path; others work too */
    uint64_t nominal_bandwidth;  /* bytes/s one way, 0 unknown; never guessed */
    uint64_t nominal_latency_ns; /* 0 unknown */
    char name[32];               /* "dram0", "hbf0", "storage0": unique in the instance */
    char detail[256];            /* one line for people: what it is composed of, and why so */
} hbf_tier_info;
#define HBF_TIER_INFO_MIN_SIZE 384u
HBF_CHECK_LAYOUT(hbf_tier_info, 384, detail);

/* Page sizes asked for; what was got is in hbf_region_info.page_size, from the kernel's own word. */
typedef uint32_t hbf_pages;
#define HBF_PAGES_DEFAULT ((hbf_pages)0) /* the tier's best effort */
#define HBF_PAGES_4K ((hbf_pages)1)
#define HBF_PAGES_THP ((hbf_pages)2)
#define HBF_PAGES_2M ((hbf_pages)3)
#define HBF_PAGES_1G ((hbf_pages)4)

#define HBF_ALLOC_OPEN_EXISTING 1u /* with name: open, never create; HBF_UNAVAILABLE if there is none */

typedef struct hbf_alloc_desc {
    uint32_t struct_size;
    uint32_t tier;      /* index */
    uint64_t size;      /* bytes, > 0 */
    uint64_t alignment; /* bytes, a power of two; 0: the tier's.  More than the tier can give is HBF_UNSUPPORTED */
    hbf_pages pages;    /* an explicit size that cannot be had is HBF_UNAVAILABLE, never a silent smaller one */
    uint32_t flags;     /* HBF_ALLOC_* */
    hbf_string
        name; /* persistent tiers: 1 to 64 of [A-Za-z0-9._-], not starting with a dot; empty: gone with the instance */
} hbf_alloc_desc;
#define HBF_ALLOC_DESC_MIN_SIZE 48u
HBF_CHECK_LAYOUT(hbf_alloc_desc, 48, name);

typedef struct hbf_region_info {
    uint32_t struct_size;
    uint32_t tier; /* index; HBF_TIER_NONE for registered host memory */
    hbf_region region;
    uint64_t size;      /* bytes usable, as asked for */
    uint64_t page_size; /* bytes, verified; 0 where pages do not apply; the smallest if mixed */
    void *address;      /* CPU address while access has CPU, else NULL; valid until free */
} hbf_region_info;
#define HBF_REGION_INFO_MIN_SIZE 40u
HBF_CHECK_LAYOUT(hbf_region_info, 40, address);

typedef struct hbf_tier_ext {
    uint32_t struct_size;
    uint32_t tier_count; /* fixed for the life of the instance */

    /* [any-thread] Writes *out, its struct_size set by the caller.  An index past tier_count is HBF_INVALID. */
    hbf_status (*describe)(hbf_instance *instance, uint32_t tier, hbf_tier_info *out, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] New region, contents undefined but never another owner's.  HBF_EXHAUSTED when full: earlier
     * regions stay intact.  Zero size and sizes over capacity are HBF_INVALID and HBF_EXHAUSTED.  The region is the
     * instance's until free; may block (page faults, preallocation). */
    hbf_status (*alloc)(hbf_instance *instance, const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *error)
        HBF_NOEXCEPT;

    /* [any-thread] Frees or unregisters.  HBF_BUSY while a command that names the region is in flight.  On this and any
     * other failure the region stays, whole; once freed, no later submit finds it, and an address from hbf_region_info
     * is dead. */
    hbf_status (*free)(hbf_instance *instance, hbf_region region, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] Makes the caller's memory a region for queue commands.  The memory stays the caller's and must
     * outlive the region (free is BUSY while it is in use).  NULL, or HBF_UNSUPPORTED, where this cannot be done. */
    hbf_status (*register_host)(hbf_instance *instance, void *address, uint64_t size, hbf_region_info *out,
                                hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] A handle that import_region of the same plugin takes, on this machine, in another instance or
     * process, as bytes in the caller's buffer.  *size in: capacity, out: bytes needed, also where they do not fit,
     * which is HBF_INVALID.  What the handle refers to lives until the region is freed.  NULL where unsupported. */
    hbf_status (*export_region)(hbf_instance *instance, hbf_region region, void *handle, uint64_t *size,
                                hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] The exporter's bytes as a region here; free ends only this view of them.  NULL where unsupported. */
    hbf_status (*import_region)(hbf_instance *instance, const void *handle, uint64_t size, hbf_region_info *out,
                                hbf_error *error) HBF_NOEXCEPT;
} hbf_tier_ext;
#define HBF_TIER_EXT_MIN_SIZE 56u
HBF_CHECK_LAYOUT(hbf_tier_ext, 56, import_region);

HBF_END_C

#endif
