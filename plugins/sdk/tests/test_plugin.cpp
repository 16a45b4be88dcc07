// SPDX-License-Identifier: Apache-2.0
// A plugin for the tests of the shell: does what its options say.
//     throw=WHERE:WHAT   the virtual function WHERE throws WHAT
//     bare=1             no coherence, kernels, health, no cancel
//     devices=N          probe finds N devices
//     hangs=N            a queue gets one value done in each of N waits that are given an end, and then none any more
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "hbf/sdk/entry.hpp"
#include "hbf/sdk/region_table.hpp"

namespace {
using namespace hbf::sdk;

struct NoException {};

// What is thrown where.
struct Trap {
    std::string where, what;

    explicit Trap(const Options &options) {
        const auto found = options.find("throw");
        if (found == options.end()) return;
        where = found->second.substr(0, found->second.find(':'));
        what = found->second.substr(where.size() + 1);
    }
    void at(const char *here) const {
        if (where != here) return;
        if (what == "failure") throw Failure{HBF_DATA_LOSS, std::string("planted in ") + here, 77, 4096};
        if (what == "success") throw Failure{HBF_OK, "a failure that says it is none"};
        if (what == "unheard") throw Failure{-5, "a status nobody knows"};
        if (what == "bad_alloc") throw std::bad_alloc();
        if (what == "runtime_error") throw std::runtime_error(std::string("standard exception in ") + here);
        if (what == "int") throw 42;
        if (what == "struct") throw NoException{};
        throw Failure{HBF_INVALID, what}; // the message itself
    }
};

// No NUL if it just fits: the shell's to mend.
template <size_t N>
void copy_text(char (&to)[N], const std::string &from) {
    std::memcpy(to, from.data(), std::min(N, from.size()));
}

constexpr uint64_t hung_after_ns = 1000;

// A batch with a fill stays in flight until it is waited for; anything else is done at once.
class TestQueue : public Queue {
public:
    TestQueue(const Trap &trap, const Log &log, int lives) : trap_(trap), log_(log), lives_(lives) {}
    ~TestQueue() override { log_.info("queue ends"); }

    uint64_t submit(const BatchView &batch) override {
        trap_.at("submit");
        bool slow = false;
        for (uint64_t i = 0; i < batch.size(); ++i) {
            if (batch[i].kind == HBF_COMMAND_FILL) slow = true;
            if (batch[i].kind == HBF_COMMAND_LAUNCH) failed_ = submitted_ + 1;
        }
        ++submitted_;
        if (!slow) completed_ = submitted_.load();
        return submitted_;
    }
    Progress poll() noexcept override { return {completed_, failed_, failed_ ? trap_poll_ : HBF_OK}; }
    bool wait(uint64_t value, uint64_t timeout_ns) override {
        trap_.at("wait");
        if (completed_ < value && timeout_ns == 0) return false;
        if (completed_ < value) log_.info("queue waits");
        if (lives_ >= 0 && timeout_ns == hung_after_ns) {
            if (lives_-- == 0) return lives_ = 0, false;
            return ++completed_ >= value;
        }
        completed_ = std::max<uint64_t>(completed_, value);
        return true;
    }
    bool cancel(uint64_t value) override {
        trap_.at("cancel");
        return value > completed_;
    }
    std::optional<Failure> failure() const override {
        trap_.at("failure");
        if (failed_ == 0) return std::nullopt;
        return Failure{HBF_DATA_LOSS, "the launch failed", 9, 512};
    }
    bool idle() noexcept override { return completed_ == submitted_; }

private:
    const Trap &trap_;
    const Log &log_;
    int lives_; // -1: it does not hang
    hbf_status trap_poll_ = HBF_DATA_LOSS;
    std::atomic<uint64_t> submitted_{0}, completed_{0}, failed_{0};
};

class TestInstance : public Instance, Coherence, Kernels, Health {
public:
    explicit TestInstance(const CreateArgs &args)
        : trap_(args.options), log_(args.log), bare_(args.options.contains("bare")) {
        if (const auto hangs = args.options.find("hangs"); hangs != args.options.end()) lives_ = std::stoi(hangs->second);
        trap_.at("create");
        log_.info("instance begins on " + args.device_id);
    }
    ~TestInstance() override {
        regions_.drain([](void *&memory) { std::free(memory); });
        log_.info("instance ends");
    }

    uint32_t tier_count() const override {
        trap_.at("tier_count");
        return 2;
    }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override {
        trap_.at("describe_tier");
        out.kind = tier == 0 ? HBF_TIER_HBM : HBF_TIER_COLD;
        out.capacity = 1 << 20;
        copy_text(out.name, "a name of exactly 32 characters.");
        copy_text(out.detail, "test");
    }
    hbf_region_info alloc(const AllocRequest &request) override {
        trap_.at("alloc");
        void *memory = std::malloc(request.size);
        if (!memory) throw std::bad_alloc();
        try {
            return {0, request.tier, regions_.insert(memory), request.size, 4096, memory};
        } catch (...) {
            std::free(memory);
            throw;
        }
    }
    void free(hbf_region region) override {
        trap_.at("free");
        std::free(regions_.take(region));
    }
    bool can_register_host() const override { return true; }
    hbf_region_info register_host(void *address, uint64_t size) override {
        trap_.at("register_host");
        return {0, HBF_TIER_NONE, 1ull << 40, size, 4096, address};
    }
    hbf_queue_info queue_info() const override {
        trap_.at("queue_info");
        return {0, bare_ ? 0 : HBF_QUEUE_CAP_CANCEL, HBF_VISIBLE_HOST, 8, 4, 3};
    }
    std::unique_ptr<Queue> create_queue(const QueueRequest &) override {
        trap_.at("create_queue");
        return std::make_unique<TestQueue>(trap_, log_, lives_);
    }
    uint64_t end_patience_ns() const override { return lives_ < 0 ? UINT64_MAX : hung_after_ns; }
    Coherence *coherence() override {
        trap_.at("coherence");
        return bare_ ? nullptr : this;
    }
    Kernels *kernels() override { return bare_ ? nullptr : this; }
    Health *health() override { return bare_ ? nullptr : this; }

    uint32_t domain_count() const override { return 1; }
    void describe(uint32_t, hbf_domain_info &out) const override {
        trap_.at("describe");
        out.protocol = HBF_PROTOCOL_HARDWARE;
        out.granule = 64;
    }
    uint32_t kernel_count() const override { return 1; }
    std::string_view kernel_name(uint32_t) const override {
        trap_.at("kernel_name");
        return "copy";
    }
    void find(std::string_view name, hbf_kernel_info &out) override {
        trap_.at("find");
        if (name != "copy") fail(HBF_UNSUPPORTED, "no kernel of this name");
        out.kernel = 5;
        out.arguments_size = 24;
    }
    std::vector<hbf_reading> read() override {
        trap_.at("read");
        std::vector<hbf_reading> readings(3);
        for (size_t i = 0; i < readings.size(); ++i) readings[i].value = 100 + i;
        return readings;
    }

private:
    Trap trap_;
    Log log_;
    bool bare_;
    int lives_ = -1;
    RegionTable<void *> regions_;
};

struct TestPlugin : Plugin {
    static constexpr Facts facts{.name = "sdk_test", .vendor = "HBF", .version = "1.2.3", .description = "for tests"};

    std::vector<hbf_device_info> probe(const ProbeArgs &args) override {
        Trap(args.options).at("probe");
        const auto count = args.options.find("devices");
        std::vector<hbf_device_info> found(count == args.options.end() ? 2 : std::stoul(count->second));
        for (size_t i = 0; i < found.size(); ++i) {
            const std::string id = "test" + std::to_string(i);
            copy_text(found[i].id, id);
            copy_text(found[i].driver, args.system_root);
        }
        return found;
    }
    std::unique_ptr<Instance> create(const CreateArgs &args) override { return std::make_unique<TestInstance>(args); }
};
} // namespace

HBF_PLUGIN(TestPlugin);
