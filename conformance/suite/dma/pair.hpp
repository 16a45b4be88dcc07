// SPDX-License-Identifier: Apache-2.0
// A source and a destination of one route, each with its model, and a queue: what most copy cases start from.
#pragma once

#include "conformance/suite/dma/model.hpp"
#include "conformance/suite/dma/route.hpp"

namespace hbf::conformance {

struct Pair {
    Pair(Context &context, const Route &route, uint64_t source_size, uint64_t destination_size, uint32_t batch = 64)
        : access(context.device()), buffers(context.device()), from(buffers.make(route.from, source_size)),
          to(buffers.make(route.to, destination_size)),
          source(access, from, "the source in " + route.from_name, route.from_name),
          destination(access, to, "the destination in " + route.to_name, route.to_name),
          most(commands_of(context.device(), batch)), queue(context.device(), 0, most) {
        source.load(context.seed(), 1);
        destination.load(context.seed(), 2);
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    // Source to destination, or from one to the other as named; then compares every byte of both.
    void run(Context &context, const std::vector<hbf_command> &commands, std::string_view when) {
        run_and_verify(context, queue, commands, most, destination, source, when);
    }

    ByteAccess access;
    Buffers buffers;
    hbf_region_info from, to;
    Model source, destination;
    uint32_t most; // commands in a batch
    Queue queue;
};

} // namespace hbf::conformance
