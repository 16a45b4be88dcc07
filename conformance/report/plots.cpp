// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/plots.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/output/json.hpp"

namespace hbf::conformance {
namespace {

constexpr size_t fewest_samples = 6, most_plots = 200; // a page that nobody scrolls through

} // namespace

Series distribution(const std::string &name, const std::string &unit, const std::vector<double> &samples) {
    Series out{name, "distribution", unit, "samples", {}};
    std::vector<double> finite;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(finite),
                 [](double value) { return std::isfinite(value); });
    if (finite.empty()) return out;
    const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
    const double low = *least, width = *most - *least;
    const auto bins =
        width > 0 ? std::clamp<size_t>(static_cast<size_t>(std::sqrt(static_cast<double>(finite.size()))), 5, 40) : 1;
    std::vector<size_t> counts(bins);
    for (const double value : finite) {
        const double at = width > 0 ? (value - low) / width * static_cast<double>(bins) : 0;
        ++counts[std::min(bins - 1, static_cast<size_t>(at))];
    }
    for (size_t i = 0; i < bins; ++i) {
        const double middle = low + width * (static_cast<double>(i) + 0.5) / static_cast<double>(bins);
        out.points.push_back({fmt::format("{:.4g}", middle), middle, static_cast<double>(counts[i]), false});
    }
    return out;
}

std::vector<Plot> plots_of(const RunRecord &run) {
    std::vector<Plot> out;
    const auto add = [&](const CaseRecord &record, Series series) {
        if (out.size() < most_plots) out.push_back({fmt::format("plot{}", out.size()), record.name, std::move(series)});
    };
    for (const CaseRecord &record : run.cases) {
        for (const Series &series : record.series)
            if (!series.points.empty()) add(record, series);
        for (const Metric &metric : record.metrics)
            if (metric.samples.size() >= fewest_samples) add(record, distribution(metric.name, metric.unit, metric.samples));
    }
    return out;
}

std::string plots_json(const std::vector<Plot> &plots) {
    Json out = Json::array();
    for (const Plot &plot : plots) {
        Json points = Json::array();
        for (const Series::Point &point : plot.series.points)
            points.push(Json::object({{"label", point.label}, {"x", point.x}, {"y", point.y}, {"marked", point.marked}}));
        out.push(Json::object({{"id", plot.id},
                               {"kind", plot.series.kind},
                               {"x_label", plot.series.x_label},
                               {"y_label", plot.series.y_label},
                               {"points", points}}));
    }
    return out.line();
}

} // namespace hbf::conformance
