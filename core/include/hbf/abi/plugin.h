/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point and the base table.
 *
 * A plugin is a shared library that exports exactly one symbol, hbf_plugin_query.  The host calls it, reads the table,
 * probes (in a process of its own), and creates one instance per device it wants.  All else is an extension, found by
 * its string id:
 *
 *     "hbf.tier/1"       tier.h       what memory and storage there is; allocate, free, map, register
 *     "hbf.queue/1"      queue.h      ordered work: copy, fill, flush, invalidate, launch, wait
 *     "hbf.coherence/1"  coherence.h  who sees whose stores, and what it takes
 *     "hbf.kernels/1"    kernels.h    device code that `launch` can run
 *     "hbf.health/1"     health.h     error counters, link state, temperature
 *
 * tier and queue are needed for a plugin to be of use; the others may be absent, which is NULL and legal. */
#ifndef HBF_ABI_PLUGIN_H
#define HBF_ABI_PLUGIN_H

#include "basic.h"
#include "host.h"
#include "version.h"

HBF_BEGIN_C

/* One opened device.  Made by create, ended by destroy, opaque to the host. */
typedef struct hbf_instance hbf_instance;

/* A setting from configuration, e.g. {"storage_path", "/mnt/nvme/hbf"}.  An unknown key is HBF_INVALID to create; probe
 * ignores what it does not need.  Arrays of it have no stride: it never grows. */
typedef struct hbf_option {
    hbf_string key;
    hbf_string value;
} hbf_option;
HBF_CHECK_LAYOUT(hbf_option, 32, value);

/* Where a device's memory is real silicon or pretended; pretended is said on every line that shows a figure of it. */
#define HBF_REALITY_REAL 1u
#define HBF_REALITY_EMULATED 2u

/* Flags of a device. ON_CPU: its kernels and copies are run by this machine's CPUs, through a runtime made for devices; a
 * host ranks it below real accelerators and below its own access to the same memory. */
#define HBF_DEVICE_ON_CPU 1u

/* One device found by probe.  Filled by the plugin in the host's array; strings are NUL-terminated, cut to fit. */
typedef struct hbf_device_info {
    uint32_t struct_size;
    uint32_t reality;     /* HBF_REALITY_* */
    char id[64];          /* stable name for create, unique in the plugin: "host0", "gpu-0000:3b:00.0" */
    char name[128];       /* for people */
    char driver[128];     /* driver name and version, "" where there is none */
    char pci_address[32]; /* "0000:3b:00.0", or "" */
    int32_t numa_node;    /* -1 unknown */
    uint32_t flags;       /* HBF_DEVICE_* */
} hbf_device_info;
#define HBF_DEVICE_INFO_MIN_SIZE 368u
HBF_CHECK_LAYOUT(hbf_device_info, 368, flags);

typedef struct hbf_probe_in {
    uint32_t struct_size;
    uint32_t option_count;
    const hbf_host_services *services; /* may be NULL: nobody listens */
    const hbf_option *options;         /* option_count of them; NULL if there are none */
    hbf_string system_root; /* "" or "/" in production; a test's own machine otherwise: sysfs, procfs and /dev below it */
} hbf_probe_in;
#define HBF_PROBE_IN_MIN_SIZE 40u
HBF_CHECK_LAYOUT(hbf_probe_in, 40, system_root);

typedef struct hbf_probe_out {
    uint32_t struct_size;
    uint32_t device_capacity; /* in: elements in `devices` */
    hbf_device_info *devices; /* in: the host's array, each element's struct_size set; NULL with capacity 0: only count */
    uint64_t device_stride;   /* in: bytes from one element to the next, >= their struct_size, a multiple of 8 */
    uint32_t device_count;    /* out: devices found; may exceed device_capacity (then ask again) */
    uint32_t reserved;
} hbf_probe_out;
#define HBF_PROBE_OUT_MIN_SIZE 32u
HBF_CHECK_LAYOUT(hbf_probe_out, 32, reserved);

typedef struct hbf_create_in {
    uint32_t struct_size;
    uint32_t option_count;
    const hbf_host_services *services; /* valid until destroy returns; may be NULL */
    const hbf_option *options;
    hbf_string device_id; /* hbf_device_info.id; empty: the first that probe reports */
    hbf_string system_root;
} hbf_create_in;
#define HBF_CREATE_IN_MIN_SIZE 56u
HBF_CHECK_LAYOUT(hbf_create_in, 56, system_root);

/* The base table: static in the plugin, valid for the life of the process, as are its strings, none of which is NULL. */
typedef struct hbf_plugin {
    uint32_t struct_size;
    uint32_t abi_version; /* HBF_ABI_VERSION of the headers this table was built for */
    const char *name;     /* "host"; [a-z][a-z0-9_-]{0,63}; equals the manifest's name */
    const char *vendor;
    const char *version;     /* "0.1.0" */
    const char *description; /* one line */
    const char *compiler;    /* "g++ 12.2.0 -O2" */
    const char *build_id;    /* source revision, "" if unknown */
    uint32_t sanitizer;      /* HBF_SANITIZER_* */
    uint32_t flags;          /* 0 */

    /* [any-thread] Looks for devices.  Opens no context, starts no thread, leaves nothing behind; returns within
     * seconds.  No device is HBF_UNAVAILABLE with the reason (driver absent, no device); a device node that may not
     * be opened is HBF_PERMISSION naming the node.  More devices than fit: as many as fit are written, HBF_OK. */
    hbf_status (*probe)(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *error) HBF_NOEXCEPT;

    /* [any-thread] Opens one device.  Many instances may live at once, of one device too.  On failure *out is NULL
     * and everything opened on the way is closed.  An instance's threads start here, never before, and the instance
     * is not usable after fork: a child may only exec. */
    hbf_status (*create)(const hbf_create_in *in, hbf_instance **out, hbf_error *error) HBF_NOEXCEPT;

    /* [last:instance] Waits for work in flight, joins the instance's threads, frees its queues and regions.  NULL is
     * allowed.  After it no handle and no table of the instance may be used.  Never calling it is legal too: a process
     * may exit with instances open, and nothing then runs in the plugin's static destructors. */
    void (*destroy)(hbf_instance *instance) HBF_NOEXCEPT;

    /* [any-thread] Table for an extension id, or NULL.  The host asks once per id and instance; the table lives until
     * destroy, and asking again gives the same.  An unknown id is NULL, not an error. */
    const void *(*get_extension)(hbf_instance *instance, hbf_string id) HBF_NOEXCEPT;
} hbf_plugin;
#define HBF_PLUGIN_MIN_SIZE 96u
HBF_CHECK_LAYOUT(hbf_plugin, 96, get_extension);

/* The one exported symbol.  [any-thread] Pure: same answer each time, touches no driver, no file, no environment,
 * starts no thread.  Returns a table whose abi_version lies in [host->abi_min, host_abi_max], or NULL.  NULL also where
 * `host` is NULL or smaller than its minimum. */
#define HBF_PLUGIN_QUERY_SYMBOL "hbf_plugin_query"
typedef const hbf_plugin *(*hbf_plugin_query_fn)(uint32_t host_abi_max, const hbf_host_info *host) HBF_NOEXCEPT;

HBF_END_C

#endif
