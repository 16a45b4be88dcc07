// SPDX-License-Identifier: Apache-2.0
// A first-in-first-out of fixed size: what its user never overfills needs no allocation after it is made.
#pragma once

#include <cstddef>
#include <vector>

namespace hbf::host {

template <class T>
class Ring {
public:
    explicit Ring(size_t capacity) : items_(capacity) {}
    bool empty() const { return count_ == 0; }
    const T &front() const { return items_[first_]; }
    void push(const T &item) { items_[(first_ + count_++) % items_.size()] = item; }
    T pop() {
        T item = items_[first_];
        first_ = (first_ + 1) % items_.size();
        --count_;
        return item;
    }

private:
    std::vector<T> items_;
    size_t first_ = 0, count_ = 0;
};

} // namespace hbf::host
