// SPDX-License-Identifier: Apache-2.0
// One device of the machine: what it is, how it is, and what it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "conformance/sim/model/contract.hpp"
#include "conformance/sim/model/health.hpp"
#include "conformance/sim/model/profile.hpp"
#include "conformance/sim/model/stream.hpp"

namespace hbf::model {

class Machine;

class HBF_MODEL_API Device {
public:
    Device(Machine &machine, int index, const ProfileDevice &profile);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    int index() const noexcept { return index_; }
    const ProfileDevice &profile() const noexcept { return profile_; }
    std::string name() const { return profile_.name + " (emulated)"; }
    // [device.attributes] by the vendor's number, or `otherwise`.
    int64_t attribute(int64_t number, int64_t otherwise = 0) const;
    std::string text(const std::string &key, const std::string &otherwise = "") const; // [device.texts]

    Health &health() noexcept { return health_; }
    const Contract &contract() const noexcept { return contract_; }
    void set_contract(const Contract &contract) noexcept { contract_ = contract; } // before the first stream

    // ok, lost, or the sticky error that broke it.
    Outcome status() const noexcept { return status_.load(std::memory_order_acquire); }
    void break_with(Outcome outcome) noexcept; // the first one stays
    void mend() noexcept;                      // a reset; a lost device stays lost
    // Hot removal: everything pending ends as lost, every later call says so.
    void unplug() noexcept;
    bool lost() const noexcept { return status() == Outcome::lost; }

    Stream &default_stream(); // the legacy one, made at first use
    // Waits for all that was submitted to any of its streams before the call. The first error of any of them; pending: the
    // time ran out.
    Outcome synchronize(uint64_t timeout_ns = forever);

private:
    Machine &machine_;
    const int index_;
    const ProfileDevice &profile_;
    Contract contract_;
    Health health_;
    std::atomic<Outcome> status_{Outcome::ok};
    std::atomic<Stream *> default_stream_{nullptr};
};

} // namespace hbf::model
