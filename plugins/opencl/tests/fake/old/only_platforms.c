/* SPDX-License-Identifier: Apache-2.0 */
/* A libOpenCL.so.1 with one function of all: what an ancient loader, or another library of that name, looks like. */
#include <stddef.h>

int clGetPlatformIDs(unsigned room, void **out, unsigned *count);
int clGetPlatformIDs(unsigned room, void **out, unsigned *count) {
    (void)room, (void)out;
    if (count != NULL) *count = 0;
    return 0;
}
