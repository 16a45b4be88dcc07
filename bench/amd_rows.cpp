// SPDX-License-Identifier: Apache-2.0
// The AMD plugin beside the same calls of HIP by hand.
#include "bench/emulated.hpp"
#include "bench/rows.hpp"
#include "plugins/amd/api.hpp"

namespace hbf::bench {
namespace {

using namespace amd;
constexpr const char *library_name = "libamdhip64.so.6";

class HipByHand {
public:
    static void *open(const std::filesystem::path &file) { return open_library(file); }
    HipByHand(void *hip, uint64_t batches)
        : per_burst(batches), copy_(take<Code(void *, const void *, size_t, int, Stream)>(hip, "hipMemcpyAsync")),
          record_(take<Code(HipEvent, Stream)>(hip, "hipEventRecord")), query_(take<Code(HipEvent)>(hip, "hipEventQuery")),
          events_(batches) {
        check_code(take<Code(unsigned)>(hip, "hipInit")(0), "hipInit");
        check_code(take<Code(Stream *, unsigned)>(hip, "hipStreamCreateWithFlags")(&stream_, flag::stream_non_blocking),
                   "hipStreamCreateWithFlags");
        for (HipEvent &event : events_)
            check_code(take<Code(HipEvent *, unsigned)>(hip, "hipEventCreateWithFlags")(
                           &event, flag::event_disable_timing | flag::event_release_to_system),
                       "hipEventCreateWithFlags");
        for (void **const at : {&from_, &to_})
            check_code(take<Code(void **, size_t)>(hip, "hipMalloc")(at, copy_bytes), "hipMalloc");
    }

    void run_burst() {
        for (HipEvent const event : events_) {
            check_code(copy_(to_, from_, copy_bytes, flag::memcpy_default, stream_), "hipMemcpyAsync");
            check_code(record_(event, stream_), "hipEventRecord");
        }
        for (HipEvent const event : events_) {
            Code code = code::not_ready;
            while (code == code::not_ready) code = query_(event);
            check_code(code, "hipEventQuery");
        }
    }
    const uint64_t per_burst;

private:
    Code (*const copy_)(void *, const void *, size_t, int, Stream);
    Code (*const record_)(HipEvent, Stream);
    Code (*const query_)(HipEvent);
    Stream stream_ = nullptr;
    std::vector<HipEvent> events_;
    void *from_ = nullptr, *to_ = nullptr;
};

} // namespace

void amd_rows(const Settings &settings, std::vector<Row> &rows) {
    overhead_rows<HipByHand>(settings, rows, Overhead("AMD", "copy and event by hand, emulated HIP"), "amd", library_name,
                             burst);
}

} // namespace hbf::bench
