// SPDX-License-Identifier: Apache-2.0
// One check's look at a machine: every file it asks for is remembered as evidence, and what is there but cannot be read, or
// makes no sense, is a doubt that outweighs any pass.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/check.hpp"
#include "tools/doctor/finding.hpp"
#include "tools/doctor/known_bad.hpp"
#include "tools/doctor/machine.hpp"

namespace hbf::tools::doctor {

// "FOLDER/PART/PART"; an empty last part ends it with a slash.
template <class... Part>
std::string below(std::string folder, const Part &...parts) {
    ((folder += '/', folder += parts), ...);
    return folder;
}

class Look {
public:
    using Form = Machine::Form;
    enum class Show { yes, no }; // no: read by every check of a family, and no evidence of its own

    Look(Machine &machine, const KnownBad &known_bad) : machine_(machine), known_bad_(known_bad) {}

    // What stands in a file. Nothing if it is not there; nothing and a doubt if it is there and cannot be used.
    std::optional<std::string> text(const std::string &path, Form form = Form::text, Show show = Show::yes);
    std::optional<uint64_t> number(const std::string &path, Show show = Show::yes); // decimal, or hexadecimal after 0x
    // One of `known`; of "always [madvise] never" the word in brackets, if every word is known.
    std::optional<std::string> word(const std::string &path, std::initializer_list<std::string_view> known);

    // The same for files without which nothing can be said: absence is a doubt too.
    std::optional<std::string> need_text(const std::string &path, Form form = Form::text, Show show = Show::yes);
    std::optional<uint64_t> need_number(const std::string &path, Show show = Show::yes);
    std::optional<std::string> need_word(const std::string &path, std::initializer_list<std::string_view> known);

    std::vector<std::string> entries(const std::string &path); // of a folder; a doubt if it is there and cannot be listed
    std::vector<std::string> need_entries(const std::string &path);
    bool exists(const std::string &path, Show show = Show::yes);
    // The file itself, for whoever reads it otherwise; a doubt if it is not there.
    std::optional<std::string> need_file(const std::string &path);
    std::string link(const std::string &path) { return machine_.link(path); }
    std::string link_name(const std::string &path); // last part of a link's target, "" if there is no link

    // The worst of what was said is the verdict; of the same verdict the texts are joined.
    void say(Verdict verdict, std::string text);
    void pass(std::string text) { say(Verdict::pass, std::move(text)); }
    void warn(std::string text) { say(Verdict::warn, std::move(text)); }
    void fail(std::string text) { say(Verdict::fail, std::move(text)); }
    void cannot_tell(std::string text) { say(Verdict::cannot_tell, std::move(text)); }
    void not_applicable(std::string text) { say(Verdict::not_applicable, std::move(text)); }
    void garbled(const std::string &path, std::string_view expected); // what stands there is not what it should be
    void root_only() { needs_root_ = true; }

    void seen(std::string path, std::string value); // evidence that is no file's text
    void fix(std::string command, std::string changes, bool lasts = false);
    void fix_boot(const std::string &parameter, std::string changes); // a parameter of the kernel
    void fix_sysctl(const std::string &name, const std::string &value,
                    const std::string &changes); // now, and from the next boot on

    bool running() const { return machine_.running(); }
    std::string full(const std::string &path) const { return machine_.full(path); }
    const KnownBad &known_bad() const { return known_bad_; }

    Finding finish(const Check &check) const;

private:
    const Reading &read(const std::string &path, Form form, Show show);
    template <class T>
    std::optional<T> needed(const std::string &path, std::optional<T> got);

    Machine &machine_;
    const KnownBad &known_bad_;
    std::vector<std::pair<Verdict, std::string>> said_;
    std::vector<Seen> seen_;
    std::vector<Fix> fixes_;
    std::vector<std::string> files_;
    size_t unseen_ = 0; // evidence that was left out
    bool needs_root_ = false;
};

} // namespace hbf::tools::doctor
