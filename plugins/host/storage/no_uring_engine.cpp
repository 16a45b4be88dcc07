// SPDX-License-Identifier: Apache-2.0
// In place of uring_engine.cpp where liburing was not there to build with.
#include "hbf/sdk/failure.hpp"
#include "uring_engine.hpp"

namespace hbf::host {

std::unique_ptr<Engine> make_uring_engine(uint32_t) {
    sdk::fail(HBF_UNSUPPORTED, "this plugin was built without liburing");
}

} // namespace hbf::host
