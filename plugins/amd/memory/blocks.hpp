// SPDX-License-Identifier: Apache-2.0
// Memory as the runtime gives it, given back at its end. Constructors throw sdk::Failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plugins/amd/options.hpp"

namespace hbf::amd {

class Block {
public:
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    virtual ~Block() = default;
    std::byte *at() const { return at_; }               // the CPU's address, or the device's where the CPU has none
    std::byte *on_device() const { return on_device_; } // the same byte, for kernels and fills

protected:
    Block() = default;
    std::byte *at_ = nullptr, *on_device_ = nullptr;
};

// Of `owner`'s memory.
class DeviceBlock final : public Block {
public:
    DeviceBlock(int owner, uint64_t size, CoherenceClass kind);
    ~DeviceBlock() override;

private:
    int owner_;
};

// Pinned memory of the host.
class HostBlock final : public Block {
public:
    HostBlock(int device, uint64_t size, CoherenceClass kind);
    ~HostBlock() override;

private:
    int device_;
};

// Pages of the host's NUMA node `node`, registered with the runtime. Not `place`: wherever the kernel puts them.
class NodeBlock final : public Block {
public:
    NodeBlock(int device, uint64_t size, int node, bool place);
    ~NodeBlock() override;

private:
    void unmap() noexcept;
    int device_;
    uint64_t size_;
};

// Memory that is the caller's, registered with the runtime as long as anybody here has it registered.
class RegisteredBlock final : public Block {
public:
    RegisteredBlock(int device, void *address, uint64_t size);
    ~RegisteredBlock() override;

private:
    int device_;
    uint64_t size_;
};

} // namespace hbf::amd
