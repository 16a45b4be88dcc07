// SPDX-License-Identifier: Apache-2.0
// What the API's handles point to. An object stays where it is after its end, so that a stale handle is an error and no
// crash.
#pragma once

#include <atomic>
#include <cstddef>
#include <forward_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "conformance/emulators/nvidia/cuda/api.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::cuda {

struct Object {
    explicit Object(uint32_t kind) : kind_(kind) {}
    bool is(uint32_t kind) const noexcept { return kind_.load(std::memory_order_acquire) == kind; }
    bool end() noexcept { return kind_.exchange(0, std::memory_order_acq_rel) != 0; } // true: it was alive

private:
    std::atomic<uint32_t> kind_;
};

struct Context : Object {
    static constexpr uint32_t kind = 0xc0;
    Context(model::Device &on, CUdevice number) : Object(kind), device(&on), ordinal(number) {}

    model::Device *const device;
    const CUdevice ordinal;
    bool alive() const noexcept { return active.load(std::memory_order_acquire); }

    std::atomic<bool> active{false}; // a primary context ends and comes back
    std::atomic<unsigned int> flags{0};
    uint32_t retained = 0; // under the lock of contexts.cpp
    std::atomic<size_t> persisting_l2{0};
    std::atomic<size_t> stack_size{1024}, printf_size{1 << 20}, heap_size{8 << 20}, fetch_granularity{64};
};

struct Stream : Object {
    static constexpr uint32_t kind = 0x57;
    Stream(Context &of, model::Stream *on, unsigned int how, int rank)
        : Object(kind), context(&of), stream(on), flags(how), priority(rank) {}
    Context *const context;
    model::Stream *const stream;
    const unsigned int flags;
    const int priority;
    unsigned long long id = 0;
    bool legacy = false; // the default stream
    std::mutex mutex;
    CUaccessPolicyWindow window{}; // under mutex
};

struct Event : Object {
    static constexpr uint32_t kind = 0xe7;
    Event(Context &of, model::Event *mark, unsigned int how) : Object(kind), context(&of), event(mark), flags(how) {}
    Context *const context;
    model::Event *const event;
    const unsigned int flags;
};

struct Function;
struct Module : Object {
    static constexpr uint32_t kind = 0x30;
    Module() : Object(kind) {}
    std::vector<Function *> functions;
    int binary_version = 0, ptx_version = 0; // 90: sm_90; 0: not from PTX
};

struct Function : Object {
    static constexpr uint32_t kind = 0xf0;
    Function(Module &of, const kernels::device::Kernel *twin, std::string entry)
        : Object(kind), module(&of), kernel(twin), name(std::move(entry)) {}
    Module *const module;
    const kernels::device::Kernel *const kernel; // nullptr: no twin, it cannot be launched
    const std::string name;
};

struct Pool : Object {
    static constexpr uint32_t kind = 0x90;
    explicit Pool(model::Device &on) : Object(kind), device(&on) {}
    model::Device *const device;
    std::atomic<uint64_t> release_threshold{0};
};

// Where the objects of a kind lie: in pieces that are never given back. The place of one that ended is taken again after a
// few more have ended, as drivers do it; until then its handle is known to be stale.
template <class T>
class Store {
public:
    static Store &of_all() {
        static auto &store = *new Store; // calls may come after exit() began
        return store;
    }

    // The first piece, which is one for most programs: so that what makes an object later seldom needs memory of its own.
    void prepare() {
        std::lock_guard lock(mutex_);
        if (pieces_.empty()) grow();
    }

    template <class... Arguments>
    T *make(Arguments &&...arguments) {
        std::lock_guard lock(mutex_);
        if (dead_ > kept) {
            Place *const place = first_;
            first_ = place->next;
            --dead_;
            std::destroy_at(place->object());
            return std::construct_at(place->object(), std::forward<Arguments>(arguments)...);
        }
        if (used_ == piece) grow();
        return std::construct_at(pieces_.front()[used_++].object(), std::forward<Arguments>(arguments)...);
    }

    void give_back(T *object) noexcept { // it has ended
        auto *const place = reinterpret_cast<Place *>(object);
        std::lock_guard lock(mutex_);
        place->next = nullptr;
        (dead_++ ? last_->next : first_) = place;
        last_ = place;
    }

private:
    static constexpr size_t piece = 1024, kept = 16;
    struct Place {
        T *object() { return reinterpret_cast<T *>(bytes); }
        alignas(T) std::byte bytes[sizeof(T)];
        Place *next;
    };
    void grow() {
        pieces_.push_front(std::make_unique_for_overwrite<Place[]>(piece));
        used_ = 0;
    }

    std::mutex mutex_;
    std::forward_list<std::unique_ptr<Place[]>> pieces_;
    size_t used_ = piece, dead_ = 0;
    Place *first_ = nullptr, *last_ = nullptr; // of those that ended
};

template <class T, class... Arguments>
T *make(Arguments &&...arguments) {
    return Store<T>::of_all().make(std::forward<Arguments>(arguments)...);
}

// False: it had ended before.
template <class T>
bool retire(T *object) noexcept {
    if (!object->end()) return false;
    Store<T>::of_all().give_back(object);
    return true;
}

// Does what may find no memory; then what undoes the step before it.
template <class Work, class Undo>
void or_undo(Work &&work, Undo &&undo) {
    try {
        work();
    } catch (...) {
        undo();
        throw;
    }
}

template <class T>
bool valid(const T *handle) noexcept {
    return handle && reinterpret_cast<uintptr_t>(handle) % alignof(T) == 0 && handle->is(T::kind);
}

Context *current() noexcept; // of this thread, or nullptr
Context &primary(model::Device &device, CUdevice ordinal);

// 0, CU_STREAM_LEGACY (1), CU_STREAM_PER_THREAD (2), or a stream's own handle; nullptr: none of these. `context`: the
// current one, which the default streams are of.
Stream *stream_of(CUstream handle, Context &context);
extern thread_local bool per_thread_default; // what 0 means in this call

} // namespace hbf::emulated::cuda
