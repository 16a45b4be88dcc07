// SPDX-License-Identifier: Apache-2.0
// Stands in for OpenMP's own header where the compiler has none: it is looked for last (-idirafter). clang brings its
// header in a package apart, which cannot be installed beside another clang's. Here is what FAISS's headers and this room
// name, as the OpenMP specification declares it (3.1, section 3.2); the functions are those of the library linked, libgomp.
#pragma once

extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}
struct omp_lock_t; // in declarations of FAISS alone; nothing here has one
