// SPDX-License-Identifier: Apache-2.0
// A runtime of streams that runs one operation when it is told to, in a test's own order, and an instance over it.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/stream/instance.hpp"

namespace hbf::stream {

class FakeStream;

struct FakeRuntime {
    struct Mark { // a record of an event
        const FakeStream *stream = nullptr;
        uint64_t operation = 0; // over once so many of the stream have run
    };
    std::mutex mutex;
    std::map<Event, Mark> events;
    std::vector<FakeStream *> streams;
    std::map<std::string, int> refuse; // call -> code of its next
    int inside = 0;                    // enter() without leave()
    std::map<std::string, int> calls;
    int live_regions = 0;
};

class FakeStream final : public StreamApi {
public:
    explicit FakeStream(FakeRuntime &runtime) : runtime_(runtime) { runtime_.streams.push_back(this); }
    ~FakeStream() override { std::erase(runtime_.streams, this); }

    void enter() noexcept override {
        const std::lock_guard lock(runtime_.mutex);
        ++runtime_.inside;
    }
    void leave() noexcept override {
        const std::lock_guard lock(runtime_.mutex);
        --runtime_.inside;
    }
    Event make_event() override {
        auto *const event = new char;
        if (const int code = called("make_event")) {
            delete event;
            throw explain(code, false);
        }
        const std::lock_guard lock(runtime_.mutex);
        runtime_.events[event] = {};
        return event;
    }
    void destroy_event(Event event) noexcept override {
        const std::lock_guard lock(runtime_.mutex);
        runtime_.events.erase(event);
        delete static_cast<char *>(event);
    }
    int copy(const Copy *copies, uint32_t count) noexcept override {
        return put("copy", [all = std::vector<Copy>(copies, copies + count)] {
            for (const Copy &copy : all)
                std::memcpy(reinterpret_cast<void *>(copy.dst), reinterpret_cast<const void *>(copy.src), copy.size);
        });
    }
    int fill(const Fill &fill) noexcept override {
        return put("fill", [fill] {
            EXPECT_EQ(fill.dst % fill.width, 0u);
            for (uint64_t i = 0; i < fill.count; ++i)
                std::memcpy(reinterpret_cast<char *>(fill.dst) + i * fill.width, &fill.value, fill.width);
        });
    }
    int launch(const Launch &launch) noexcept override;
    int write_back(const Region &, uint64_t, uint64_t) noexcept override {
        return put("write_back", [] {});
    }
    int record(Event event) noexcept override {
        if (const int code = called("record")) return code;
        const std::lock_guard lock(runtime_.mutex);
        runtime_.events[event] = {this, put_};
        return 0;
    }
    int wait(Event event) noexcept override {
        FakeRuntime::Mark mark;
        {
            const std::lock_guard lock(runtime_.mutex);
            mark = runtime_.events[event];
        }
        return put("wait", [] {}, mark);
    }
    Answer query(Event event) noexcept override {
        (void)called("query");
        const std::lock_guard lock(runtime_.mutex);
        const FakeRuntime::Mark &mark = runtime_.events[event];
        return {mark.stream->over(mark.operation), mark.stream->broken_};
    }
    Answer query_all() noexcept override {
        const std::lock_guard lock(runtime_.mutex);
        return {over(put_), broken_};
    }
    void finish() noexcept override {
        while (step()) {
        }
    }
    sdk::Failure explain(int code, bool ran) const override {
        return {ran ? HBF_DEVICE_LOST : HBF_INTERNAL, "FAKE_ERROR (" + std::to_string(code) + ")"};
    }

    // Runs the next operation; false if there is none, or it waits for another stream.
    bool step() {
        std::function<void()> work;
        {
            const std::lock_guard lock(runtime_.mutex);
            if (todo_.empty()) return false;
            const FakeRuntime::Mark &after = todo_.front().after;
            if (after.stream && !after.stream->over(after.operation)) return false;
            work = std::move(todo_.front().work);
            todo_.pop_front();
        }
        work();
        const std::lock_guard lock(runtime_.mutex);
        ++done_;
        return true;
    }
    void break_down(int code) { broken_ = code; }
    size_t todo() const { return todo_.size(); }

private:
    struct Operation {
        std::function<void()> work;
        FakeRuntime::Mark after;
    };
    bool over(uint64_t operation) const { return broken_ != 0 || done_ >= operation; }
    int called(const std::string &name) noexcept {
        const std::lock_guard lock(runtime_.mutex);
        ++runtime_.calls[name];
        const auto refused = runtime_.refuse.find(name);
        if (refused == runtime_.refuse.end()) return 0;
        const int code = refused->second;
        runtime_.refuse.erase(refused);
        return code;
    }
    int put(const std::string &name, std::function<void()> work, FakeRuntime::Mark after = {}) {
        EXPECT_GT(runtime_.inside, 0) << name << " outside of enter and leave";
        if (const int code = called(name)) return code;
        const std::lock_guard lock(runtime_.mutex);
        todo_.push_back({std::move(work), after});
        ++put_;
        return 0;
    }

    FakeRuntime &runtime_;
    std::deque<Operation> todo_;
    uint64_t put_ = 0, done_ = 0;
    int broken_ = 0;
};

struct FakeRegion final : Region {
    explicit FakeRegion(FakeRuntime &on, uint64_t bytes) : runtime(on), store(bytes) {
        size = bytes;
        at = reinterpret_cast<uint64_t>(store.data());
        ++runtime.live_regions;
    }
    ~FakeRegion() override { --runtime.live_regions; }
    FakeRuntime &runtime;
    std::vector<std::byte> store;
};

// Runs the twin of the kernel whose place in the catalogue its "function" is.
struct FakeLoader final : KernelLoader {
    std::string device() const override { return "the fake"; }
    std::string missing(const kernels::device::Kernel &kernel) const override {
        return kernel.name == lacking ? "it needs luck" : "";
    }
    LoadedKernel load(const kernels::device::Kernel &kernel) override {
        if (fail_once) {
            fail_once = false;
            sdk::fail(HBF_UNAVAILABLE, "the compiler says: no");
        }
        ++loads;
        return {const_cast<kernels::device::Kernel *>(&kernel), 64, "by hand", 2};
    }
    std::string lacking;
    bool fail_once = false;
    int loads = 0;
};

inline int FakeStream::launch(const Launch &launch) noexcept {
    const auto *const kernel = static_cast<const kernels::device::Kernel *>(launch.function);
    EXPECT_EQ(launch.parameter_count, 2 * kernel->buffer_count + 1);
    std::vector<kernels::device::TwinBuffer> buffers;
    for (uint32_t i = 0; i + 1 < launch.parameter_count; i += 2)
        buffers.push_back({reinterpret_cast<void *>(*static_cast<uint64_t *>(launch.parameters[i]) +
                                                    *static_cast<uint64_t *>(launch.parameters[i + 1])),
                           0});
    const auto *const bytes = static_cast<const char *>(launch.parameters[launch.parameter_count - 1]);
    std::vector<uint64_t> arguments(launch.arguments_size / 8 + 1);
    std::memcpy(arguments.data(), bytes, launch.arguments_size);
    struct Shape {
        uint32_t groups[3], size[3];
    } shape{};
    std::copy_n(launch.groups, 3, shape.groups);
    std::copy_n(launch.group_size, 3, shape.size);
    return put("launch", [=] { kernels::device::run(*kernel, buffers.data(), arguments.data(), shape.groups, shape.size); });
}

class FakeInstance final : public Instance {
public:
    explicit FakeInstance(FakeRuntime &runtime) : runtime_(runtime) {
        auto made = std::make_unique<FakeLoader>();
        loader = made.get();
        serve_kernels(std::make_unique<KernelTable>(std::move(made)));
    }
    ~FakeInstance() override { end(); }
    uint32_t tier_count() const override { return 1; }
    void describe_tier(uint32_t, hbf_tier_info &) override {}

    FakeLoader *loader;

protected:
    std::unique_ptr<Region> make(const sdk::AllocRequest &request) override {
        auto made = std::make_unique<FakeRegion>(runtime_, request.size);
        made->tier = request.tier;
        made->for_kernels = true;
        return made;
    }
    std::unique_ptr<Region> make_registered(void *address, uint64_t size) override {
        auto made = std::make_unique<FakeRegion>(runtime_, 0);
        made->size = size;
        made->at = reinterpret_cast<uint64_t>(address);
        made->host = static_cast<std::byte *>(address);
        return made;
    }
    std::unique_ptr<StreamApi> make_stream() override { return std::make_unique<FakeStream>(runtime_); }

private:
    FakeRuntime &runtime_;
};

class OnStreams : public ::testing::Test {
protected:
    ~OnStreams() override {
        instance.reset();
        EXPECT_EQ(runtime.live_regions, 0);
        EXPECT_TRUE(runtime.events.empty()) << "an event was not given back";
        EXPECT_EQ(runtime.inside, 0);
    }

    hbf_region allocate(uint64_t size) {
        sdk::AllocRequest request;
        request.size = size;
        return instance->alloc(request).region;
    }
    hbf_region host(void *address, uint64_t size) { return instance->register_host(address, size).region; }
    std::unique_ptr<sdk::Queue> queue(uint32_t depth = 0) { return instance->create_queue({depth, 0}); }

    static hbf_command copy(hbf_region dst, uint64_t to, hbf_region src, uint64_t from, uint64_t size) {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {dst, to, src, from, size, nullptr};
        return command;
    }
    static hbf_command fill(hbf_region dst, uint64_t at, uint64_t size, uint64_t pattern, uint32_t width) {
        hbf_command command{};
        command.kind = HBF_COMMAND_FILL;
        command.u.fill = {dst, at, size, pattern, width, 0};
        return command;
    }
    static hbf_command barrier() {
        hbf_command command{};
        command.kind = HBF_COMMAND_WAIT;
        return command;
    }
    static uint64_t submit(sdk::Queue &queue, const std::vector<hbf_command> &commands) {
        const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands.data(), commands.size()};
        return queue.submit(sdk::BatchView(batch));
    }
    // Why it was refused; HBF_OK if it was not.
    template <class Call>
    static sdk::Failure refusal(const Call &call) {
        try {
            call();
        } catch (const sdk::Failure &failure) {
            return failure;
        }
        return {HBF_OK, "it was not refused"};
    }
    FakeStream &stream(size_t index = 0) { return *runtime.streams.at(index); }
    void run_all() {
        for (bool more = true; more;) {
            more = false;
            for (FakeStream *one : runtime.streams) more |= one->step();
        }
    }

    FakeRuntime runtime;
    std::unique_ptr<FakeInstance> instance = std::make_unique<FakeInstance>(runtime);
};

} // namespace hbf::stream
