// SPDX-License-Identifier: Apache-2.0
// Launches that are not the ones that were asked for.
#include <algorithm>
#include <map>
#include <mutex>

#include <sys/uio.h>
#include <unistd.h>

#include "conformance/inject/held_fault.hpp"
#include "conformance/inject/launch_fault.hpp"

namespace hbf::inject {
namespace {

class LaunchWrong final : public LaunchFault {
public:
    using LaunchFault::LaunchFault;

    bool hits(const hbf_launch &launch) override {
        if (!LaunchFault::hits(launch)) return false;
        const std::string &what = settings().text("what");
        if (what == "swapped") return launch.buffer_count >= 2;
        if (what == "last-group") return product(launch.groups) > 1;
        if (what == "one-dimension")
            return product(launch.groups) > launch.groups[0] || product(launch.group_size) > launch.group_size[0];
        if (what == "arguments") return has_other(launch);
        return true;
    }
    bool change(hbf_launch &launch) override {
        const std::string &what = settings().text("what");
        const auto buffers = buffers_of(launch);
        if (what == "swapped") {
            std::swap(buffers[0].region, buffers[1].region);
            std::swap(buffers[0].offset, buffers[1].offset);
            std::swap(buffers[0].size, buffers[1].size);
        }
        if (what == "offset" && !buffers.empty()) shift(buffers.back());
        if (what == "last-group") --*std::find_if(launch.groups, launch.groups + 2, [](uint32_t n) { return n > 1; });
        if (what == "one-dimension")
            for (int i = 1; i < 3; ++i) launch.groups[i] = launch.group_size[i] = 1;
        if (what == "arguments") {
            std::lock_guard lock(mutex_);
            std::copy(spare_.begin(), spare_.end(), arguments_of(launch).begin());
        }
        return what != "nothing";
    }

private:
    static uint64_t product(const uint32_t *sizes) { return uint64_t{sizes[0]} * sizes[1] * sizes[2]; }
    void shift(hbf_kernel_buffer &buffer) const {
        const auto region = device().regions().find(buffer.region);
        if (buffer.offset + buffer.size + 8 <= region->size)
            buffer.offset += 8;
        else if (buffer.offset >= 8)
            buffer.offset -= 8;
        else if (buffer.size > 8)
            buffer.offset += 8, buffer.size -= 8;
    }
    // Whether the launch before of this kernel had other arguments. It is this launch's that the next one finds.
    bool has_other(const hbf_launch &launch) {
        const auto now = arguments_of(launch);
        std::lock_guard lock(mutex_);
        std::vector<std::byte> &before = arguments_[launch.kernel];
        spare_ = before;
        before.assign(now.begin(), now.end());
        return !spare_.empty() && spare_ != before;
    }
    std::mutex mutex_;
    std::map<uint64_t, std::vector<std::byte>> arguments_; // of the last launch, by kernel
    std::vector<std::byte> spare_;
};
HBF_FAULT(LaunchWrong, "launch-wrong", "a launch runs otherwise than it was asked for",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "nothing",
           .line = "it does nothing; its last buffer lies 8 bytes beside; it has the arguments of the one before of its "
                   "kernel; its first two buffers are exchanged; its last group is missing; its second and third dimension "
                   "are",
           .choices = {"nothing", "offset", "arguments", "swapped", "last-group", "one-dimension"}});

// What launches point to is looked at when they begin, not when submit takes them.
class LaunchReadsLate final : public HeldFault {
public:
    using HeldFault::HeldFault;

    hbf_status poll(Queue &queue, hbf_progress *out) override {
        release(queue);
        return below_->poll(queue, out);
    }
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override {
        release(queue);
        return below_->wait(queue, value, timeout_ns, e);
    }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        release(queue);
        return below_->cancel(queue, value, e);
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        Theirs &theirs = static_cast<Theirs &>(state(queue));
        std::vector<hbf_command> commands;
        if (readable(queue, batch)) copy_commands(*batch, commands);
        {
            std::lock_guard lock(theirs.mutex);
            theirs.next.clear();
            for (const hbf_command &command : commands) theirs.next.push_back(command.u.launch);
        }
        return HeldFault::submit(queue, batch, out_value, e);
    }

protected:
    bool may_hold(const hbf_command &command) const override { return command.kind == HBF_COMMAND_LAUNCH; }
    void held(State &state) override { static_cast<Theirs &>(state).theirs.swap(static_cast<Theirs &>(state).next); }
    void let_go(State &state) override {
        const std::vector<hbf_launch> &theirs = static_cast<Theirs &>(state).theirs;
        for (size_t i = 0; i < state.held.size() && i < theirs.size(); ++i) {
            const hbf_launch &launch = state.held[i].u.launch;
            if (settings().text("what") == "buffers")
                look_again(buffers_of(launch).data(), theirs[i].buffers, launch.buffer_count * sizeof(hbf_kernel_buffer));
            else
                look_again(arguments_of(launch).data(), theirs[i].arguments, launch.arguments_size);
        }
    }

private:
    struct Theirs : State {
        std::vector<hbf_launch> next, theirs; // as the host wrote them: of the batch at hand, of the one kept back
    };
    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Theirs>(); }
    // The host may have given it back: the kernel is asked, which says so.
    static void look_again(void *to, const void *from, uint64_t size) {
        const iovec local{to, size}, remote{const_cast<void *>(from), size};
        if (size != 0) (void)!::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
    }
};
HBF_FAULT(LaunchReadsLate, "launch-reads-late", "what a launch points to is read some time after submit has taken it",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "arguments",
           .line = "is read late",
           .choices = {"arguments", "buffers"}});

} // namespace
} // namespace hbf::inject
