/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1 that is no good, in the way that BAD says: 1 a stub, 2 too old, 3 of nonsense, 4 without the door to its
 * functions, 5 lacking some of them. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int cuDriverGetVersion(int *version) {
    *version = BAD == 2 ? 11080 : BAD == 3 ? -5 : 12080;
    return BAD == 1 ? 34 : 0;
}

#if BAD >= 5
static int nothing(void) {
    return 801;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *found) {
    (void)version, (void)flags, (void)found;
    const int lacks = strcmp(name, "cuMemMap") == 0 || strcmp(name, "cuEventRecord") == 0;
    int (*const is)(void) = nothing;
    *function = NULL;
    if (lacks) return 500;
    memcpy(function, &is, sizeof is);
    return 0;
}
#endif
