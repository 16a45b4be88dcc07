// SPDX-License-Identifier: Apache-2.0
// CNDrv's interface as its documents give it (CNDrv 2.15: cn_api.h), declared here because nothing of Cambricon's is needed
// to build. Handles are the machine's own objects: a queue of CNDrv's is one of CNRT's, too ("cnrtQueue_t equals CNqueue").
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbf::model {
class Stream;
class Event;
} // namespace hbf::model

namespace hbf::emulated::cn {

struct Context;

using CNresult = int;
using CNaddr = uint64_t;
using CNdev = uint64_t;
using CNcontext = Context *;
using CNqueue = model::Stream *;
using CNnotifier = model::Event *;
using CNhostFn = void (*)(void *data);
using CNqueueCallback = void (*)(CNqueue queue, CNresult status, void *data);

enum Code : CNresult {
    SUCCESS = 0,
    NOT_READY = 1,
    NOT_INITIALIZED = 100002,
    NO_DEVICE = 100004,
    INVALID_DEVICE = 100005,
    INVALID_VALUE = 100006,
    OPERATING_SYSTEM = 100007,
    SYSTEM_OUT_OF_MEMORY = 100010,
    INVALID_ADDRESS = 100011,
    INVALID_HANDLE = 100014,
    ILLEGAL_STATE = 100015,
    ECC_UNCORRECTABLE = 100016,
    NOT_SUPPORTED = 100050,
    NOT_PERMITTED = 100051,
    QUEUE_ERROR = 100060,
    MEMORY_OUT_OF_MEMORY = 100100,
    ILLEGAL_ADDRESS = 100131,
    INVOKE_ERROR = 100200,
    CONTEXT_INVALID = 100201,
    UNKNOWN = 200000,
};

// CNdevice_attribute, those that the emulator answers by itself where a profile says nothing.
enum Attribute : int {
    COMPUTE_CAPABILITY_MAJOR = 0x01,
    QUEUE_COUNT = 0x101,
    CLUSTER_COUNT = 0x205,
    CORES_PER_CLUSTER = 0x206,
    ISA_VERSION = 0x20a,
    MAX_PERSISTING_L2 = 0x309,
    AVAILABLE_MEMORY_MB = 0x312,
    ECC_ENABLED = 0x401,
    TOTAL_MEMORY_MB = 0x405,
    PCI_BUS = 0x406,
    PCI_DEVICE = 0x407,
    PCI_DOMAIN = 0x408,
};

} // namespace hbf::emulated::cn
