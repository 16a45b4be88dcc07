// SPDX-License-Identifier: Apache-2.0
// The whole cast of issue "bad input", each with the reason it must be given.
#include <cstring>

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"

namespace hbf::hostile {
namespace {

// Changes a copy of a good library's ELF header.
template <class Change>
std::string with_header(std::string bytes, Change change) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

template <class Change>
std::string with_segments(std::string bytes, Change change) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        char *const at = bytes.data() + header.e_phoff + i * sizeof segment;
        std::memcpy(&segment, at, sizeof segment);
        change(segment);
        std::memcpy(at, &segment, sizeof segment);
    }
    return bytes;
}

class Cast {
public:
    Cast(Scene &scene, Expectation &out) : scene_(scene), out_(out), main_(scene.folder("plugins")) {
        out_.path.push_back(main_);
    }

    void plugin(const std::string &name, const char *reason, const std::string &library = "chameleon.so",
                const std::string &extra = "") {
        scene_.plugin(main_, name, library, extra);
        out_.reasons[name] = reason;
    }
    void bytes(const std::string &name, const char *reason, const std::string &content) {
        write_bytes(main_ / (name + ".so"), content);
        scene_.manifest(main_, name);
        out_.reasons[name] = reason;
    }
    void manifest(const std::string &name, const char *reason, const std::string &text) {
        write_bytes(main_ / (name + ".so"), good_);
        write_bytes(main_ / (name + ".plugin.toml"), text);
        out_.reasons[name] = reason;
    }

    void files();
    void tables();
    void manifests();
    void behaviour();
    void places();

private:
    Scene &scene_;
    Expectation &out_;
    fs::path main_;
    std::string good_ = read_bytes(built() / "chameleon.so");
};

void Cast::files() {
    bytes("a_text_file", "not_a_plugin", "#!/bin/sh\necho not a library\n");
    bytes("an_empty_file", "not_a_plugin", "");
    for (const size_t length : {size_t{4}, size_t{17}, size_t{63}, size_t{64}, size_t{200}, good_.size() / 4,
                                good_.size() / 2, good_.size() - 1}) {
        bytes(fmt::format("truncated_at_{}", length), "not_a_plugin", good_.substr(0, length));
    }
    bytes("corrupt_program_headers", "not_a_plugin", with_header(good_, [](Elf64_Ehdr &h) { h.e_phoff = UINT64_MAX - 8; }));
    bytes("corrupt_count", "not_a_plugin", with_header(good_, [](Elf64_Ehdr &h) { h.e_phnum = 0xfffe; }));
    bytes("corrupt_sizes", "not_a_plugin",
          with_segments(good_, [](Elf64_Phdr &s) { s.p_filesz = s.p_memsz = UINT64_MAX / 2; }));
    bytes("corrupt_dynamic", "not_a_plugin", with_segments(good_, [](Elf64_Phdr &s) {
              if (s.p_type == PT_DYNAMIC) s.p_vaddr = 0x7fffffff0000;
          }));
    bytes("wrong_machine", "wrong_arch", with_header(good_, [](Elf64_Ehdr &h) { h.e_machine = EM_PPC64; }));
    bytes("wrong_class", "wrong_arch", with_header(good_, [](Elf64_Ehdr &h) { h.e_ident[EI_CLASS] = ELFCLASS32; }));
    bytes("wrong_byte_order", "wrong_arch", with_header(good_, [](Elf64_Ehdr &h) { h.e_ident[EI_DATA] = ELFDATA2MSB; }));
    bytes("a_program", "not_a_plugin", read_bytes("/proc/self/exe"));
    plugin("no_entry", "not_a_plugin", "no_entry.so");
    plugin("entry_is_data", "not_a_plugin", "entry_is_data.so");
    plugin("borrowed_entry", "not_a_plugin", "borrowed_entry.so");
    plugin("missing_dependency", "missing_dependency", "missing_dependency.so");
    if (fs::exists(built() / "asan_plugin.so")) plugin("asan_plugin", "sanitizer_mismatch", "asan_plugin.so");
    // What strip leaves out, and more: no section header at all.
    bytes("stripped", "selected", with_header(good_, [](Elf64_Ehdr &h) { h.e_shoff = 0, h.e_shnum = 0, h.e_shstrndx = 0; }));
    write_bytes(main_ / "lonely.so", good_);
    out_.reasons["lonely"] = "manifest_invalid";
}

void Cast::tables() {
    plugin("query_newer", "abi_too_new");
    plugin("query_newer_null", "abi_too_new");
    plugin("query_older", "abi_too_old");
    plugin("query_null", "not_a_plugin");
    plugin("query_short", "not_a_plugin");
    plugin("query_wild", "probe_crashed");
    plugin("query_fickle", "not_a_plugin");
    plugin("query_null_functions", "not_a_plugin");
    plugin("query_null_name", "not_a_plugin");
    plugin("query_other_name", "manifest_invalid");
    plugin("query_sanitizer", "sanitizer_mismatch");
    plugin("answer_no_device", "no_device");
    plugin("answer_nothing", "no_device");
    plugin("answer_stub", "driver_stub");
    plugin("answer_absent", "driver_absent");
    plugin("answer_too_old", "driver_too_old");
    plugin("answer_denied", "permission_denied");
    plugin("answer_busy", "device_busy");
    plugin("answer_internal", "probe_failed");
    plugin("answer_twins", "probe_failed");
    plugin("answer_many", "probe_failed");
    plugin("answer_no_id", "probe_failed");
    plugin("create_error", "create_failed");
    plugin("create_nothing", "create_failed");
    plugin("create_no_tier", "create_failed");
}

void Cast::manifests() {
    manifest("manifest_empty", "manifest_invalid", "");
    manifest("manifest_blank", "manifest_invalid", "\n\n  \n");
    manifest("manifest_huge", "manifest_invalid", manifest_text("manifest_huge") + std::string(100000, '#'));
    manifest("manifest_binary", "manifest_invalid", good_.substr(0, 5000));
    manifest("manifest_broken", "manifest_invalid", "format = 1\nname = \"unterminated\n");
    manifest("manifest_twice", "manifest_invalid", manifest_text("manifest_twice", "name = \"again\"\n"));
    manifest("manifest_wrong_type", "manifest_invalid", manifest_text("manifest_wrong_type", "priority = \"high\"\n"));
    manifest("manifest_wrong_needs", "manifest_invalid",
             manifest_text("manifest_wrong_needs", "[needs]\npci = \"1234:*\"\n"));
    manifest("manifest_bad_pattern", "manifest_invalid",
             manifest_text("manifest_bad_pattern", "[needs]\npci = [\"graphics\"]\n"));
    manifest("manifest_deep", "manifest_invalid", manifest_text("manifest_deep", "x" + std::string(40000, '.') + "y = 1\n"));
    manifest("manifest_no_name", "manifest_invalid", "format = 1\nlibrary = \"manifest_no_name.so\"\n");
    std::string outside = manifest_text("manifest_outside");
    outside.replace(outside.find("manifest_outside.so"), 8, "../manif");
    manifest("manifest_outside", "manifest_invalid", outside);
    std::string absolute = manifest_text("manifest_absolute");
    absolute.replace(absolute.find("manifest_absolute.so"), 8, "/manifes");
    manifest("manifest_absolute", "manifest_invalid", absolute);
    scene_.manifest(main_, "manifest_alone");
    out_.reasons["manifest_alone"] = "manifest_invalid";
    std::string later = manifest_text("manifest_newer");
    for (size_t at; (at = later.find("\"0.1\"")) != std::string::npos;) later.replace(at, 5, "\"9.0\"");
    manifest("manifest_newer", "abi_too_new", later);
    std::string earlier = manifest_text("manifest_older");
    for (size_t at; (at = earlier.find("\"0.1\"")) != std::string::npos;) earlier.replace(at, 5, "\"0.0\"");
    manifest("manifest_older", "abi_too_old", earlier);
    plugin("manifest_other_arch", "wrong_arch", "chameleon.so", "arch = [\"riscv64\"]\n");
    plugin("manifest_unknown_key", "selected", "chameleon.so", "priorty = 5\n");
    plugin("needs_device", "no_device", "chameleon.so", "[needs]\npci = [\"fffe:*\"]\n");
    plugin("needs_node", "driver_absent", "chameleon.so", "[needs]\nnodes = [\"/dev/hbf-no-such-node\"]\n");
}

void Cast::behaviour() {
    for (const std::string place : {"constructor", "query", "probe", "create"}) {
        const bool creates = place == "create";
        for (const char *what : {"segv", "ill", "abort", "throw"})
            plugin(place + "_" + what, creates ? "create_failed" : "probe_crashed");
        for (const char *what : {"exit0", "exit1", "flood"})
            plugin(place + "_" + what, creates ? "create_failed" : "probe_failed");
        plugin(place + "_hang", creates ? "create_failed" : "probe_timeout");
    }
    plugin("destroy_segv", "create_failed");
    plugin("probe_fork", "selected");
    plugin("probe_chatter", "selected");
}

void Cast::places() {
    plugin("writable_file", "untrusted_path");
    chmod((main_ / "writable_file.so").c_str(), 0666);
    plugin("writable_manifest", "untrusted_path");
    chmod((main_ / "writable_manifest.plugin.toml").c_str(), 0666);
    const fs::path open = scene_.folder("open", 0777), below = scene_.folder("open/below"),
                   sticky = scene_.folder("sticky", 01777);
    scene_.plugin(open, "in_open_folder");
    scene_.plugin(below, "below_open_folder");
    scene_.plugin(sticky, "in_sticky_folder");
    scene_.plugin(scene_.folder("sticky/mine"), "below_sticky_folder");
    scene_.manifest(main_, "link_to_open_folder");
    fs::create_symlink(open / "in_open_folder.so", main_ / "link_to_open_folder.so");
    out_.path.insert(out_.path.end(), {open, below, sticky, sticky / "mine"});
    for (const char *name : {"in_open_folder", "below_open_folder", "in_sticky_folder", "link_to_open_folder"}) {
        out_.reasons[name] = "untrusted_path";
    }
    out_.reasons["below_sticky_folder"] = "selected";
    // Only root can give a file away.
    if (geteuid() == 0) {
        plugin("of_another_user", "untrusted_path");
        plugin("writable_by_group", "untrusted_path");
        if (chown((main_ / "of_another_user.so").c_str(), 12345, 0) != 0 ||
            chown((main_ / "writable_by_group.so").c_str(), 0, 12345) != 0 ||
            chmod((main_ / "writable_by_group.so").c_str(), 0664) != 0) {
            out_.reasons.erase("of_another_user"), out_.reasons.erase("writable_by_group");
        }
    }
}

} // namespace

Expectation stage_everything(Scene &scene) {
    Expectation out;
    Cast cast(scene, out);
    cast.plugin("good", "selected", "chameleon.so", "priority = 100\n");
    cast.files();
    cast.tables();
    cast.manifests();
    cast.behaviour();
    cast.places();
    return out;
}

} // namespace hbf::hostile
