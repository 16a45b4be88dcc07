/* SPDX-License-Identifier: Apache-2.0 */
/* The whole plugin ABI.  Start at abi/plugin.h. */
#ifndef HBF_ABI_H
#define HBF_ABI_H

#include "abi/basic.h"
#include "abi/coherence.h"
#include "abi/command.h"
#include "abi/health.h"
#include "abi/host.h"
#include "abi/kernels.h"
#include "abi/plugin.h"
#include "abi/queue.h"
#include "abi/tier.h"
#include "abi/version.h"

#endif
