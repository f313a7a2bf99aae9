#include "gateway/record_mark.h"

#include "json/value.h"
#include "json/writer.h"

namespace verbatim::gateway {

using base::Result;
using base::Status;
using store::CommitPoint;

namespace {

constexpr std::string_view kSchema = "verbatim.mark.v1";
// Read whole at start; begun anew beyond a part of it.
constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 20;
constexpr std::uint64_t kLongFile = std::uint64_t{1} << 20;

std::string line_of(const CommitPoint& point) {
  json::Writer w;
  w.begin_object()
      .field("schema_version", kSchema)
      .field("commits", point.number)
      .field("proof", point.proof)
      .field("ended", point.ended)
      .end_object();
  return w.take() + "\n";
}

// Anything else than what was written says nothing.
CommitPoint point_of(std::string_view line) {
  const auto document = json::Document::parse(std::string(line));
  if (!document || !document->root().is_object()) return {};
  const auto schema = document->root().get("schema_version");
  const auto number = document->root().get("commits");
  const auto proof = document->root().get("proof");
  if (!schema || !schema->is_string() || schema->string() != kSchema) return {};
  if (!number || !number->is_number() || !proof || !proof->is_string()) return {};
  const auto ended = document->root().get("ended");
  const auto value = number->integer();
  const auto last = ended && ended->is_number() ? ended->integer() : 0;
  if (!value || *value < 0 || !last || *last < 0) return {};
  return {static_cast<std::uint64_t>(*value), std::string(proof->string()),
          static_cast<std::uint64_t>(*last)};
}

}  // namespace

RecordMark::RecordMark(base::Files& files, base::Worker& worker, store::CommitLog& log,
                       const std::string& dir, std::uint64_t lines)
    : files_(files),
      worker_(worker),
      log_(log),
      dir_(dir),
      path_(dir + "/" + log.store_id() + ".mark"),
      lines_(lines) {}

Result<CommitPoint> RecordMark::read() {
  if (!files_.exists(path_)) return CommitPoint();
  auto text = files_.read(path_, kMaxFile);
  if (!text) return std::move(text).error();
  const auto end = text->rfind('\n');
  if (end == std::string::npos) return CommitPoint();
  const auto before = end == 0 ? std::string::npos : text->rfind('\n', end - 1);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  return point_of(std::string_view(*text).substr(begin, end - begin));
}

Status RecordMark::write(const CommitPoint& point) {
  if (auto status = files_.sync_all(dir_); !status.ok()) return status;
  auto file = files_.open_append(path_);
  if (!file) return std::move(file).error();
  if ((*file)->size() > kLongFile) {
    if (auto status = (*file)->truncate(0); !status.ok()) return status;
  }
  const auto before = (*file)->size();
  auto status = (*file)->append(line_of(point));
  if (status.ok()) status = (*file)->sync();
  if (!status.ok()) (void)(*file)->truncate(before);
  if (status.ok()) log_.forget_ended(point.ended);
  return status;
}

std::uint64_t RecordMark::begin() {
  std::lock_guard lock(mutex_);
  ++open_[era_];
  return era_;
}

void RecordMark::end(std::uint64_t began) {
  std::lock_guard lock(mutex_);
  const auto it = open_.find(began);
  if (it != open_.end() && --it->second == 0) open_.erase(it);
  ++ended_;
  if (failed_) return;
  if (due()) {
    worker_.run([this] { note(); });
  } else if (!busy_ && ended_ >= lines_) {
    busy_ = true;
    worker_.run([this] { ask(); });
  }
}

void RecordMark::failed() {
  std::lock_guard lock(mutex_);
  failed_ = true;
}

bool RecordMark::due() const {
  return pending_ && (open_.empty() || open_.begin()->first >= pending_->era);
}

void RecordMark::ask() {
  auto point = log_.newest();
  std::lock_guard lock(mutex_);
  ended_ = 0;
  if (!point) {
    busy_ = false;
    return;
  }
  pending_ = Pending{std::move(*point), ++era_};
  if (due()) worker_.run([this] { note(); });
}

void RecordMark::note() {
  CommitPoint point;
  {
    std::lock_guard lock(mutex_);
    if (!due() || failed_) return;
    point = std::move(pending_->point);
    pending_.reset();
  }
  // One that can't be written costs the next start some time, no more.
  (void)write(point);
  std::lock_guard lock(mutex_);
  busy_ = false;
}

void RecordMark::close() {
  {
    std::lock_guard lock(mutex_);
    pending_.reset();
    busy_ = true;
    if (failed_) return;
  }
  worker_.run([this] { ask(); });
}

}  // namespace verbatim::gateway
