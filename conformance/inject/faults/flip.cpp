// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"
#include "conformance/inject/random.hpp"

namespace hbf::inject {
namespace {

class Flip final : public DataFault {
public:
    explicit Flip(const Settings &settings)
        : DataFault(settings), p_(settings.probability("p")), bit_(settings.given("bit") ? settings.number("bit") : any) {}

    void change(const Hit &hit) override {
        Random random = next();
        if (p_ == 0)
            return flip(hit.written, bit_ == any ? random.below(hit.written.size * 8) : bit_ % (hit.written.size * 8));
        // From one flipped bit to the next, instead of a throw for each bit.
        const uint64_t bits = hit.written.size * 8;
        for (uint64_t at = random.gap(p_); at < bits; at += 1 + random.gap(p_)) flip(hit.written, at);
    }

private:
    static constexpr uint64_t any = UINT64_MAX;

    void flip(const Span &where, uint64_t bit) {
        std::byte byte{};
        const uint64_t offset = where.offset + bit / 8;
        if (!device().touch().read(where.region, offset, {&byte, 1})) return;
        byte ^= std::byte(1u << bit % 8);
        device().touch().write(where.region, offset, {&byte, 1});
    }
    Random next() { return Random(seed() + hits_.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15u); }

    const double p_;
    const uint64_t bit_;
    std::atomic<uint64_t> hits_{0};
};
HBF_FAULT(Flip, "flip", "a copy or fill arrives with a bit flipped: one of it, or each with probability p", parameter::tier,
          {.key = "p", .kind = Parameter::probability, .preset = "0", .line = "of each bit; 0: one bit a command"},
          {.key = "bit", .line = "which bit, counted from the start; not given: drawn at random"});

} // namespace
} // namespace hbf::inject
