// SPDX-License-Identifier: Apache-2.0
// The host's side of the log: the one thing a plugin may call, how, and until when.
#include <atomic>
#include <thread>

#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/backlog.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr double patience_s = 5;
constexpr double linger_s = 0.15;

// Counts and checks every call; a log call may be made to wait until another thread got through the plugin.
struct Listener {
    std::atomic<uint64_t> calls{0}, bad_context{0}, bad_level{0}, bad_message{0}, after_end{0}, alone{0};
    std::atomic<uint64_t> polls{0}; // looks that a thread outside the plugin took
    std::atomic<bool> ended{false}, polling{false};
    hbf_host_services services{};

    Listener() {
        services.struct_size = sizeof services;
        services.context = this;
        services.log = &Listener::log;
        services.log_level = &Listener::level;
    }

    static Listener *of(void *context) {
        auto *const listener = static_cast<Listener *>(context);
        ++listener->calls;
        if (listener->ended) ++listener->after_end;
        return listener;
    }
    static void log(void *context, hbf_log_level level, hbf_string message) noexcept {
        if (!context) return; // of no listener: it would not be counted; probe says so by its own absence
        Listener *const self = of(context);
        if (level > HBF_LOG_ERROR) ++self->bad_level;
        if (message.size > (1u << 20) || (message.size && !message.data)) ++self->bad_message;
        // A thread that polls never blocks. If it stands still while this call lasts, the plugin logs under a lock.
        const uint64_t before = self->polls;
        const auto begin = measure::Clock::now();
        while (self->polling && self->polls < before + 2) {
            if (measure::seconds_between(begin, measure::Clock::now()) > patience_s) {
                ++self->alone;
                self->polling = false; // once is enough
            }
            std::this_thread::yield();
        }
    }
    static hbf_log_level level(void *context) noexcept {
        (void)of(context);
        return HBF_LOG_DEBUG; // everything
    }
};

std::unique_ptr<Instance> create(Subject &subject, Listener &listener) {
    hbf_create_in in{};
    in.struct_size = sizeof in;
    in.option_count = static_cast<uint32_t>(subject.abi_options().size());
    in.services = &listener.services;
    in.options = subject.abi_options().empty() ? nullptr : subject.abi_options().data();
    const std::string &id = subject.options().device_id;
    in.device_id = {id.data(), id.size()};
    hbf_instance *handle = nullptr;
    ErrorBuffer error;
    must(error.call(subject.plugin().create(&in, &handle, error)), "create with a host that listens to everything");
    return std::make_unique<Instance>(subject, handle);
}

// A bit of everything, good and refused; another thread polls one and the same queue meanwhile.
void use(Context &context, const Instance &device, Listener &listener) {
    Regions regions(device);
    const hbf_region_info region = regions.make(device.dma_tiers().at(0), 2u << 20);
    Queue queue(device), other(device);
    listener.polling = true;
    std::atomic<bool> over{false};
    run_threads(2, [&](unsigned thread) {
        if (thread == 1) {
            while (!over) {
                (void)device.poll(queue);
                ++listener.polls;
                std::this_thread::yield();
            }
            return;
        }
        struct Over {
            Listener &listener;
            std::atomic<bool> &over;
            ~Over() { listener.polling = false, over = true; }
        } end{listener, over};
        for (uint64_t i = 0; i < context.scaled(40, 400, 4000); ++i) {
            const uint64_t value =
                device.must_submit(queue, {fill_command(region.region, 0, i % 8 ? 4096 : region.size, i, 8)});
            uint64_t refused = 0;
            (void)device.submit(other, {fill_command(region.region, region.size, 64, 0, 1)}, refused);
            (void)device.wait(queue, value, 0);
            if (device.capabilities() & need::cancel) (void)device.cancel(queue, value);
            device.must_complete(queue, value);
            hbf_region_info more{};
            if (device.alloc(region.tier, 4096, more).ok()) device.must_free(more.region);
        }
    });
}

} // namespace

// C7's async.callback.may_call_allowed_functions, as this ABI has it: there is no callback but the log.
HBF_CASE("async.callback.none_from_plugin",
         {.rules = {"HBF-QUEUE-10"},
          .kills = {"m08_callback_under_lock", "log_after_destroy", "log_bad_level", "log_no_text", "services_changed"}}) {
    Listener listener;
    const hbf_host_services as_given = listener.services;
    auto device = create(context.subject(), listener);
    use(context, *device, listener);
    device.reset();
    listener.ended = true;
    // What a thread left behind would say, it says while others come and go.
    const auto begin = measure::Clock::now();
    while (listener.alone == 0 && measure::seconds_between(begin, measure::Clock::now()) < linger_s) {
        Listener next;
        auto again = create(context.subject(), next);
        use(context, *again, next);
    }
    expect(context, listener.after_end == 0, fault::contract,
           "{} calls to the host came after destroy had returned, when its table may be gone", listener.after_end.load());
    expect(context, listener.alone == 0, fault::contract,
           "the log was called while poll stood still for {} seconds: the plugin logs under a lock that poll takes",
           patience_s);
    expect(context, listener.bad_level == 0, fault::contract, "{} log lines have a level that is none",
           listener.bad_level.load());
    expect(context, listener.bad_message == 0, fault::contract, "{} log lines have no readable text",
           listener.bad_message.load());
    expect(context, std::memcmp(&as_given, &listener.services, sizeof as_given) == 0, fault::contract,
           "the plugin changed the host's table");
    context.note(fmt::format("{} calls to the host's log", listener.calls.load()));
}

} // namespace hbf::conformance
