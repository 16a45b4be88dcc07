// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/record_json.hpp"

#include <charconv>

#include <fmt/format.h>

#include "conformance/runner/record_fields.hpp"

namespace hbf::conformance {
namespace {

template <class T>
concept Record = Of<T, Metric> || Of<T, Series> || Of<T, Series::Point> || Of<T, Evidence> || Of<T, CaseRecord> ||
                 Of<T, Preflight> || Of<T, PreflightFinding>;

template <Record T>
Json encode(const T &value);
template <class T>
Json encode(const std::vector<T> &values);

Json encode(const std::string &value) {
    return Json(value);
}
Json encode(double value) {
    return Json(value);
}
Json encode(bool value) {
    return Json(value);
}
Json encode(uint32_t value) {
    return Json(value);
}
Json encode(uint64_t value) {
    return Json(value);
}
Json encode(Status value) {
    return Json(to_string(value));
}

template <class T>
Json encode(const std::vector<std::pair<std::string, T>> &members) {
    Json out = Json::object();
    for (const auto &[key, value] : members) out.set(key, encode(value));
    return out;
}

struct Writer {
    Json out = Json::object();
    template <class T>
    void operator()(std::string_view key, const T &value) {
        out.set(key, encode(value));
    }
    void hex(std::string_view key, uint64_t value) { out.set(key, Json(fmt::format("{:#x}", value))); }
};

template <Record T>
Json encode(const T &value) {
    Writer writer;
    fields(writer, value);
    return writer.out;
}

template <class T>
Json encode(const std::vector<T> &values) {
    Json out = Json::array();
    for (const auto &value : values) out.push(encode(value));
    return out;
}

// Each false: not of that type.
bool decode(const Json &json, std::string &out) {
    auto text = json.text();
    if (text) out = std::move(*text);
    return text.has_value();
}
bool decode(const Json &json, double &out) {
    const auto number = json.number();
    if (number) out = *number;
    return number.has_value();
}
bool decode(const Json &json, bool &out) {
    const auto value = json.boolean();
    if (value) out = *value;
    return value.has_value();
}
bool decode(const Json &json, uint64_t &out) {
    const auto value = json.whole();
    if (value) out = *value;
    return value.has_value();
}
bool decode(const Json &json, uint32_t &out) {
    const auto value = json.whole();
    if (value) out = static_cast<uint32_t>(*value);
    return value && *value <= UINT32_MAX;
}
bool decode(const Json &json, Status &out) {
    const auto text = json.text();
    if (text) out = status_from(*text);
    return text && to_string(out) == *text;
}

template <Record T>
bool decode(const Json &json, T &out);
template <class T>
bool decode(const Json &json, std::vector<std::pair<std::string, T>> &out) {
    out.clear();
    if (!json.is_object()) return false;
    for (const auto &key : json.keys()) {
        T value{};
        if (!decode(*json.get(key), value)) return false;
        out.emplace_back(key, std::move(value));
    }
    return true;
}
template <class T>
bool decode(const Json &json, std::vector<T> &out) {
    out.clear();
    if (!json.is_array()) return false;
    for (size_t i = 0; i < json.size(); ++i) {
        T value{};
        const auto element = json.at(i);
        if (!element || !decode(*element, value)) return false;
        out.push_back(std::move(value));
    }
    return true;
}

struct Reader {
    const Json &in;
    std::string wrong = {}; // the first member of another type

    template <class T>
    void operator()(std::string_view key, T &value) {
        const auto member = in.get(key);
        // A number that was not finite was written as null.
        if (!member || (std::is_same_v<T, double> && !member->number() && !member->text())) return;
        if (!decode(*member, value) && wrong.empty()) wrong = key;
    }
    void hex(std::string_view key, uint64_t &value) {
        const auto member = in.get(key);
        if (!member) return;
        const std::string text = member->text().value_or("");
        const char *end = text.data() + text.size();
        const auto parsed = std::from_chars(text.size() > 2 ? text.data() + 2 : end, end, value, 16);
        if ((!text.starts_with("0x") || parsed.ec != std::errc{} || parsed.ptr != end) && wrong.empty()) wrong = key;
    }
};

template <Record T>
bool decode(const Json &json, T &out) {
    Reader reader{json};
    fields(reader, out);
    return reader.wrong.empty();
}

template <class T>
tl::expected<T, std::string> read(const Json &json) {
    T out;
    Reader reader{json};
    fields(reader, out);
    if (!reader.wrong.empty()) return tl::unexpected(fmt::format("'{}' is not of its type", reader.wrong));
    return out;
}

} // namespace

Json to_json(const CaseRecord &record) {
    return encode(record);
}

Json to_json(const RunRecord &record) {
    Writer writer;
    writer.out.set("schema_version", Json(RunRecord::schema_version));
    fields(writer, record);
    return writer.out;
}

tl::expected<CaseRecord, std::string> case_record_from(const Json &json) {
    for (const char *key : {"name", "status"})
        if (!json.get(key)) return tl::unexpected(fmt::format("'{}' is missing", key));
    return read<CaseRecord>(json);
}

tl::expected<RunRecord, std::string> run_record_from(const Json &json) {
    const auto version = json.get("schema_version");
    if (!version || version->number() != RunRecord::schema_version)
        return tl::unexpected(
            fmt::format("this is no report of 'hbf conformance' with schema_version {}", RunRecord::schema_version));
    return read<RunRecord>(json);
}

} // namespace hbf::conformance
