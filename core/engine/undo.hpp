// SPDX-License-Identifier: Apache-2.0
// What is undone when a scope is left early: by an error, or by memory that ran out at any allocation.
#pragma once

#include <utility>

namespace hbf::kv {

template <class Action>
class Undo {
public:
    explicit Undo(Action action) : action_(std::move(action)) {}
    ~Undo() {
        if (!kept_) action_();
    }
    Undo(const Undo &) = delete;
    Undo &operator=(const Undo &) = delete;
    void keep() noexcept { kept_ = true; }

private:
    Action action_; // throws nothing
    bool kept_ = false;
};

// Room for one more at the end, so that putting it there cannot fail. Grows as a vector does by itself.
template <class Vector>
void make_room(Vector &vector) {
    if (vector.size() == vector.capacity()) vector.reserve(vector.size() < 4 ? 8 : 2 * vector.size());
}

} // namespace hbf::kv
