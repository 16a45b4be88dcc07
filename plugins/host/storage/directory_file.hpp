// SPDX-License-Identifier: Apache-2.0
// A region as a file in a directory.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "directory.hpp"
#include "file.hpp"

namespace hbf::host {

class DirectoryFile final : public File {
public:
    struct Facts {
        std::shared_ptr<Directory> directory;
        Directory::Nameless file;
        std::string name;                       // "": unnamed
        bool published = false;                 // opened under its name
        bool blocks_told = false;               // st_blocks counts all of the file's bytes, so that holes show
        std::function<void()> when_not_pending; // called once: the file has its name, or is gone
    };
    DirectoryFile(FileShape shape, Facts facts) : File(std::move(shape)), facts_(std::move(facts)) {}
    ~DirectoryFile() override;

    void publish() override;

private:
    uint64_t bytes_held() const noexcept override;
    void no_longer_pending();

    std::mutex publishing_;
    Facts facts_;
    int write_back_error_ = 0; // errno of the first
};

} // namespace hbf::host
