/* SPDX-License-Identifier: Apache-2.0 */
/* A libze_loader.so.1 that is no good, in the way that BAD says: 1 it has nothing, 2 it lacks one function. */
#include "plugins/level_zero/functions.hpp"

int some_other_library(void);
int some_other_library(void) {
    return 0;
}

#if BAD == 2
#define zeCommandListAppendBarrier of_another_name
#define FUNCTION(name)                                                                                                      \
    int name(void);                                                                                                         \
    int name(void) {                                                                                                        \
        return 0;                                                                                                           \
    }
HBF_ZE_REQUIRED(FUNCTION)
#endif
