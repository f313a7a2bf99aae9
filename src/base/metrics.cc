#include "base/metrics.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace verbatim::base {
namespace {

constexpr std::string_view kTotal = "_total";

void append_escaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
}

std::string label_text(Metrics::Labels labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text.append(text.empty() ? "" : ",").append(name).append("=\"");
    append_escaped(value, text);
    text += '"';
  }
  return text;
}

void append_integer(std::uint64_t value, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

// With `decimals` of its digits behind the point, without zeros at the end.
void append_number(std::int64_t value, unsigned decimals, std::string& out) {
  if (value < 0) out += '-';
  auto magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  std::uint64_t one = 1;
  for (unsigned i = 0; i < decimals; ++i) one *= 10;
  append_integer(magnitude / one, out);
  magnitude %= one;
  if (magnitude == 0) return;
  out += '.';
  for (one /= 10; magnitude != 0; one /= 10) {
    out += static_cast<char>('0' + magnitude / one);
    magnitude %= one;
  }
}

void append_sample(std::string_view name, std::string_view suffix, std::string_view labels,
                   std::string& out) {
  out.append(name).append(suffix);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out += ' ';
}

std::string_view type_name(Metric::Type type) {
  switch (type) {
    case Metric::Type::kCounter:
      return "counter";
    case Metric::Type::kGauge:
      return "gauge";
    case Metric::Type::kHistogram:
      break;
  }
  return "histogram";
}

}  // namespace

Metrics::Series& Metrics::series_of(const Metric& metric, Labels labels) {
  auto& family = by_name_[metric.name];
  if (family == nullptr) family = &families_.emplace_back(Family{metric, {}});
  // Two metrics of one name would make a text that nobody can read.
  if (family->metric.type != metric.type || metric.bounds.size() > Histogram::kMaxBounds)
    std::abort();
  auto text = label_text(labels);
  for (auto& series : family->series) {
    if (series.labels == text) return series;
  }
  return family->series.emplace_back(Series{std::move(text), {}, {}, {}});
}

Counter& Metrics::counter(const Metric& metric, Labels labels) {
  const std::lock_guard lock(mutex_);
  auto& cell = counters_.emplace_back();
  series_of(metric, labels).counters.push_back(&cell);
  return cell;
}

Gauge& Metrics::gauge(const Metric& metric, Labels labels) {
  const std::lock_guard lock(mutex_);
  auto& cell = gauges_.emplace_back();
  series_of(metric, labels).gauges.push_back(&cell);
  return cell;
}

Histogram& Metrics::histogram(const Metric& metric, Labels labels) {
  const std::lock_guard lock(mutex_);
  auto& cell = histograms_.emplace_back(metric.bounds);
  series_of(metric, labels).histograms.push_back(&cell);
  return cell;
}

std::int64_t Metrics::sum_of(const Metric& metric, const Series& series) {
  std::uint64_t sum = 0;
  for (const auto* cell : series.counters) sum += cell->value();
  if (metric.type == Metric::Type::kCounter) return static_cast<std::int64_t>(sum);
  std::int64_t total = 0;
  std::int64_t most = INT64_MIN;
  for (const auto* cell : series.gauges) {
    total += cell->value();
    most = std::max(most, cell->value());
  }
  return metric.merge == Metric::Merge::kSum ? total : most;
}

std::int64_t Metrics::value(const Metric& metric, Labels labels) const {
  const auto text = label_text(labels);
  const std::lock_guard lock(mutex_);
  const auto family = by_name_.find(metric.name);
  if (family == by_name_.end()) return 0;
  for (const auto& series : family->second->series) {
    if (series.labels == text) return sum_of(metric, series);
  }
  return 0;
}

std::int64_t Metrics::total(const Metric& metric, Labels labels) const {
  const std::lock_guard lock(mutex_);
  const auto family = by_name_.find(metric.name);
  if (family == by_name_.end()) return 0;
  std::int64_t sum = 0;
  for (const auto& series : family->second->series) {
    const bool fits = std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
      return series.labels.find(label_text({label})) != std::string::npos;
    });
    if (fits) sum += sum_of(metric, series);
  }
  return sum;
}

void Metrics::write_histogram(const Metric& metric, const Series& series, std::string& out) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i <= metric.bounds.size(); ++i) {
    for (const auto* cell : series.histograms) below += cell->count(i);
    std::string labels = series.labels + (series.labels.empty() ? "" : ",") + "le=\"";
    if (i < metric.bounds.size()) {
      std::string bound;
      append_number(static_cast<std::int64_t>(metric.bounds[i]), metric.decimals, bound);
      // OpenMetrics has bounds as floats in one spelling, and the other format takes it.
      if (bound.find('.') == std::string::npos) bound += ".0";
      labels += bound;
    } else {
      labels += "+Inf";
    }
    append_sample(metric.name, "_bucket", labels + '"', out);
    append_integer(below, out);
    out += '\n';
  }
  std::uint64_t sum = 0;
  for (const auto* cell : series.histograms) sum += cell->sum();
  append_sample(metric.name, "_sum", series.labels, out);
  append_number(static_cast<std::int64_t>(sum), metric.decimals, out);
  out += '\n';
  append_sample(metric.name, "_count", series.labels, out);
  append_integer(below, out);
  out += '\n';
}

void Metrics::write(const Family& family, Format format, std::string& out) {
  const auto& metric = family.metric;
  auto name = metric.name;
  // There a counter's name is that of its samples without the suffix.
  if (format == Format::kOpenMetrics && name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
  out.append("# HELP ").append(name).append(" ");
  append_escaped(metric.help, out);
  out.append("\n# TYPE ").append(name).append(" ").append(type_name(metric.type)).append("\n");
  for (const auto& series : family.series) {
    if (metric.type == Metric::Type::kHistogram) {
      write_histogram(metric, series, out);
      continue;
    }
    append_sample(metric.name, "", series.labels, out);
    append_number(sum_of(metric, series), metric.decimals, out);
    out += '\n';
  }
}

std::string Metrics::text(Format format) const {
  std::string out;
  const std::lock_guard lock(mutex_);
  for (const auto& family : families_) write(family, format, out);
  if (format == Format::kOpenMetrics) out += "# EOF\n";
  return out;
}

std::string_view Metrics::content_type(Format format) {
  return format == Format::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                 : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

Metrics::Format Metrics::format_of(std::string_view accept) {
  const bool open = accept.find("application/openmetrics-text") != std::string_view::npos;
  return open ? Format::kOpenMetrics : Format::kText;
}

}  // namespace verbatim::base
