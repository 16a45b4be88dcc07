/* SPDX-License-Identifier: Apache-2.0 */
/* ABI version of the HBF (Hybrid Buffer Fabric) plugin interface.
 *
 * Major: breaks.  Minor: adds.  While major is 0 a minor may break too; docs/abi-policy.md says when that ends.
 * A host offers [abi_min, abi_max]; a plugin answers with a table of one version in that range, or with NULL. */
#ifndef HBF_ABI_VERSION_H
#define HBF_ABI_VERSION_H

#include <stdint.h>

#define HBF_ABI_MAKE(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define HBF_ABI_MAJOR_OF(version) ((uint32_t)(version) >> 16)
#define HBF_ABI_MINOR_OF(version) ((uint32_t)(version) & 0xffffu)

#define HBF_ABI_VERSION HBF_ABI_MAKE(0, 1)

#endif
