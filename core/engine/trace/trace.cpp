// SPDX-License-Identifier: Apache-2.0
#include "core/engine/trace/trace.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <new>
#include <thread>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hbf::kv::trace {
namespace {

std::atomic<Recording *> active{nullptr};
std::atomic<uint64_t> recordings{0};
std::atomic<uint32_t> entering{0}; // threads between looking for the recording and having their place in it

uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace

Recording::Recording(size_t most_per_thread) : most_(most_per_thread), number_(++recordings), begin_ns_(now_ns()) {
    active.store(this);
}

Recording::~Recording() {
    stop();
}

void Recording::stop() {
    Recording *mine = this;
    if (!active.compare_exchange_strong(mine, nullptr)) return;
    end_ns_ = now_ns();
    // Whoever saw it active before is soon through: a span that is open now keeps its place until its end.
    while (entering.load() != 0) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    for (const auto &thread : threads_) {
        while (thread->busy.load()) std::this_thread::yield();
    }
}

Recording::Thread *Recording::own() {
    thread_local Thread *mine = nullptr;
    thread_local uint64_t of = 0;
    if (of == number_) return mine;
    auto made = std::make_unique<Thread>();
    made->tid = static_cast<uint32_t>(::syscall(SYS_gettid));
    made->events.resize(most_);
    const std::lock_guard lock(mutex_);
    threads_.push_back(std::move(made));
    mine = threads_.back().get();
    of = number_;
    return mine;
}

Span::Span(const char *name, uint64_t bytes) noexcept {
    if (active.load(std::memory_order_relaxed) == nullptr) return;
    entering.fetch_add(1);
    if (Recording *const recording = active.load()) {
        try {
            thread_ = recording->own();
            if (thread_->depth++ == 0) thread_->busy.store(true);
        } catch (const std::bad_alloc &) { // it goes without
        }
    }
    entering.fetch_sub(1);
    if (!thread_) return;
    event_.name = name;
    event_.bytes = bytes;
    event_.depth = thread_->depth - 1;
    event_.begin_ns = now_ns();
}

void Span::end() noexcept {
    if (!thread_) return;
    event_.end_ns = now_ns();
    const size_t at = thread_->count.load(std::memory_order_relaxed);
    if (at < thread_->events.size()) {
        thread_->events[at] = event_;
        thread_->count.store(at + 1, std::memory_order_release);
    } else {
        thread_->left_out.fetch_add(1, std::memory_order_relaxed);
    }
    if (--thread_->depth == 0) thread_->busy.store(false);
    thread_ = nullptr;
}

std::vector<ByName> Recording::summary() const {
    std::map<std::string, ByName> all;
    const std::lock_guard lock(mutex_);
    for (const auto &thread : threads_) {
        // In the order of their ends: what was inside a span stands before it.
        std::vector<double> inside;
        for (size_t i = 0; i < thread->count; ++i) {
            const Event &event = thread->events[i];
            const double took = static_cast<double>(event.end_ns - event.begin_ns) * 1e-9;
            if (inside.size() < event.depth + 2) inside.resize(event.depth + 2);
            ByName &sum = all[event.name];
            sum.name = event.name;
            ++sum.count;
            sum.bytes += event.bytes;
            sum.seconds += took;
            sum.self_seconds += std::max(0.0, took - inside[event.depth + 1]);
            inside[event.depth + 1] = 0;
            inside[event.depth] += took;
        }
    }
    std::vector<ByName> out;
    std::transform(all.begin(), all.end(), std::back_inserter(out), [](auto &one) { return one.second; });
    std::sort(out.begin(), out.end(), [](const ByName &a, const ByName &b) { return a.self_seconds > b.self_seconds; });
    return out;
}

std::string Recording::json() const {
    std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    const auto pid = ::getpid();
    bool first = true;
    const std::lock_guard lock(mutex_);
    for (const auto &thread : threads_) {
        for (size_t i = 0; i < thread->count; ++i) {
            const Event &event = thread->events[i];
            fmt::format_to(std::back_inserter(out),
                           "{}\n{{\"name\":\"{}\",\"cat\":\"kv\",\"ph\":\"X\",\"ts\":{:.3f},\"dur\":{:.3f},\"pid\":{},"
                           "\"tid\":{},\"args\":{{\"bytes\":{}}}}}",
                           first ? "" : ",", event.name, static_cast<double>(event.begin_ns - begin_ns_) * 1e-3,
                           static_cast<double>(event.end_ns - event.begin_ns) * 1e-3, pid, thread->tid, event.bytes);
            first = false;
        }
    }
    return out + "\n]}\n";
}

uint64_t Recording::left_out() const {
    uint64_t out = 0;
    const std::lock_guard lock(mutex_);
    for (const auto &thread : threads_) out += thread->left_out;
    return out;
}

double Recording::seconds() const {
    return static_cast<double>((end_ns_ != 0 ? end_ns_ : now_ns()) - begin_ns_) * 1e-9;
}

} // namespace hbf::kv::trace
