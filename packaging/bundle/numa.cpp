// SPDX-License-Identifier: Apache-2.0
// The two functions of libnuma that the host plugin calls, for a bundle that cannot carry libnuma.
#include <cerrno>

#include <numa.h>

#include "numa_nodes.hpp"

int numa_available() {
    return hbf::bundle::node_of_cpu(0) < 0 ? -1 : 0;
}

int numa_node_of_cpu(int cpu) {
    const int node = hbf::bundle::node_of_cpu(cpu);
    if (node < 0) errno = EINVAL;
    return node;
}
