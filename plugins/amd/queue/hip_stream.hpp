// SPDX-License-Identifier: Apache-2.0
// A HIP stream as the shared queue uses it.
#pragma once

#include "plugins/amd/library.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::amd {

class HipStream final : public stream::StreamApi {
public:
    explicit HipStream(int device); // throws
    ~HipStream() override;

    void enter() noexcept override;
    void leave() noexcept override;
    stream::Event make_event() override;
    void destroy_event(stream::Event event) noexcept override;
    int copy(const stream::Copy *copies, uint32_t count) noexcept override;
    int fill(const stream::Fill &fill) noexcept override;
    int launch(const stream::Launch &launch) noexcept override;
    int record(stream::Event event) noexcept override;
    int wait(stream::Event event) noexcept override;
    stream::Answer query(stream::Event event) noexcept override;
    stream::Answer query_all() noexcept override;
    void finish() noexcept override;
    sdk::Failure explain(int code, bool ran) const override;

private:
    int fill_wide(const stream::Fill &fill) noexcept;

    const Hip &hip_;
    const int device_;
    Stream stream_ = nullptr;
};

} // namespace hbf::amd
