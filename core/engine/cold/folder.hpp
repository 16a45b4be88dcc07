// SPDX-License-Identifier: Apache-2.0
// The folder of one log: whose it is, and who is using it. One process writes, several may read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/common/fd.hpp"
#include "core/engine/cold/calls.hpp"
#include "core/engine/cold/format.hpp"
#include "core/engine/cold/shared_words.hpp"

namespace hbf::kv::cold {

// Whose bytes a log holds. Another model or layout is always refused: their bytes would be garbage here.
struct Owner {
    Identity model, layout;
    Identity tenant = {};   // none: no tenants are told apart
    std::string label = {}; // for messages: "Llama-3.1-8B fp16 32 layers"; the first 63 bytes are kept
};

class Folder {
public:
    enum class Role { writer, reader };
    struct Wanted {
        Owner owner;
        uint64_t segment_bytes = 0;
        bool any_tenant = false;        // the caller looks at superblock().tenant
        bool any_segment_bytes = false; // `segment_bytes` is of a log that is made
    };

    // A writer makes what is not there, with modes 0700 and 0600. UNAVAILABLE: no such folder or log. BUSY: another one
    // writes. PERMISSION: others could read or write it. INVALID: of another model, layout, tenant or segment size.
    // DATA_LOSS: the superblock is damaged. Each message begins with the path and ends with what can be done.
    static Result<Folder> open(const std::filesystem::path &path, const Wanted &wanted, Role role, const Calls &calls);

    const std::filesystem::path &path() const { return path_; }
    const Superblock &superblock() const { return superblock_; }
    SharedWords &words() const { return *words_.operator->(); }
    bool has_writer() const; // somebody else's
    void end_writing();      // another one can begin

    // Refused as BUSY while others read. Until the Folder is gone or end_alone is called, none can begin to.
    Result<> begin_alone();
    void end_alone();
    // Another tenant and a new random id, by which nothing older can pass for this log's.
    Result<> hand_to(const Identity &tenant, const Calls &calls);

    // A file of the folder: the user's own, for nobody else. ENOENT is UNAVAILABLE.
    Result<Fd> open_file(const std::string &name, int flags) const;
    // Makes NAME, `size` bytes with room on the medium for each of them, in full or not at all.
    Result<Fd> make_file(const std::string &name, uint64_t size, int flags, const Calls &calls) const;
    Result<> remove_file(const std::string &name) const;
    Result<std::vector<std::string>> names() const; // sorted
    std::string label(const std::string &name) const { return (path_ / name).string(); }

private:
    Result<> make_log(const Wanted &wanted, const Calls &calls);
    Result<> lock(Role role);
    Result<> check(const Wanted &wanted, const Calls &calls);
    void sweep() const; // what a killed writer left half-made

    std::filesystem::path path_;
    Fd folder_, log_;
    Superblock superblock_;
    SharedMap words_;
};

} // namespace hbf::kv::cold
