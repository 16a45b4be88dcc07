// SPDX-License-Identifier: Apache-2.0
// A stream of the driver, as the shared queue uses it (plugins/stream).
#pragma once

#include <atomic>
#include <memory>

#include "hbf/sdk/log.hpp"
#include "plugins/nvidia/context.hpp"
#include "plugins/nvidia/storage/file_lane.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::nvidia {

struct StreamChoices {
    bool batches = true;        // several copies in one call, where the driver can
    uint64_t persisting_l2 = 0; // bytes of L2 set aside: the largest buffer that a kernel reads is hinted to it. 0: no hints
};

class CudaStream final : public stream::StreamApi {
public:
    // `most_copies`: in one call of copy(). `store`: where regions that are files lie, nullptr: there are none. Throws.
    CudaStream(const Context &context, const StreamChoices &choices, uint32_t most_copies, FileStore *store,
               const sdk::Log &log);
    ~CudaStream() override;

    void enter() noexcept override { (void)cuda_.CtxPushCurrent(context_.context); }
    void leave() noexcept override {
        cuda::Context before = nullptr;
        (void)cuda_.CtxPopCurrent(&before);
    }
    stream::Event make_event() override;
    void destroy_event(stream::Event event) noexcept override;
    int copy(const stream::Copy *copies, uint32_t count) noexcept override;
    int fill(const stream::Fill &fill) noexcept override;
    int launch(const stream::Launch &launch) noexcept override;
    int record(stream::Event event) noexcept override;
    int wait(stream::Event event) noexcept override { return cuda_.StreamWaitEvent(stream_, of(event), 0); }
    stream::Answer query(stream::Event event) noexcept override;
    stream::Answer query_all() noexcept override;
    void finish() noexcept override { (void)cuda_.StreamSynchronize(stream_); }
    sdk::Failure explain(int code, bool ran) const override;

private:
    static cuda::Event of(stream::Event event) noexcept { return static_cast<cuda::Event>(event); }
    static stream::Answer answer(cuda::Result code) noexcept { return {code != cuda::not_ready, code}; }
    int batch(const stream::Copy *copies, uint32_t count) noexcept;
    int one(const stream::Copy &copy) noexcept;
    void hint(const stream::Launch &launch) noexcept;

    const Driver &cuda_;
    const Context &context_;
    const StreamChoices choices_;
    const sdk::Log log_;
    const std::unique_ptr<FileLane> files_; // nullptr: no region is a file
    bool batches_;
    std::unique_ptr<cuda::Pointer[]> dsts_, srcs_;
    std::unique_ptr<size_t[]> sizes_;
    uint64_t window_at_ = 0, window_size_ = 0; // hinted last
    cuda::Stream stream_ = nullptr;
};

} // namespace hbf::nvidia
