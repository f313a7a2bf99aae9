#include "cli/serve_records.h"

namespace verbatim::cli {

using base::Result;
using base::Status;

namespace {

// "1 line, 2 lines"
std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void tell(const gateway::RecordRepair& done, const std::string& dir, Log& log) {
  const std::string where = "record files in " + dir + ": ";
  if (done.lines + done.ends + done.cut != 0)
    log.notice(where + "brought to what the store holds: " + counted(done.lines, "line") +
               " written, " + counted(done.files, "file") + " made, " + counted(done.cut, "file") +
               " cut, " + counted(done.ends, "file") + " ended");
  if (done.unordered != 0)
    log.tell(
        LogLevel::kWarn,
        where + counted(done.unordered, "file") +
            " with lines that the store does not know behind a gap: what was missing stands last");
  if (done.damaged != 0)
    log.tell(
        LogLevel::kWarn,
        where + counted(done.damaged, "session") +
            " can't be read from the store, and their files stay as they are; verbatim store check "
            "says where");
  if (done.foreign != 0)
    log.notice(
        where + counted(done.foreign, "file") +
        " of sessions that the store does not hold (deleted, or another store's), left as found");
}

}  // namespace

Result<std::unique_ptr<Records>> Records::open(base::Files& files, const std::string& dir,
                                               const std::string& checkpoint, StoreHome& store,
                                               Log& log) {
  std::unique_ptr<Records> records(new Records(files, dir, checkpoint));
  records->recorder_.on_failure([&log](const base::Error& error) {
    log.tell(LogLevel::kWarn, "a record line was not written: " + error.message);
  });
  if (auto status = records->recorder_.open(); !status.ok()) return std::move(status).error();
  if (store.database() == nullptr) return records;
  auto status = records->follow(files, {files, dir, checkpoint}, store, log);
  if (!status.ok()) return std::move(status).error();
  return records;
}

Status Records::follow(base::Files& files, const gateway::RecordFolder& folder, StoreHome& store,
                       Log& log) {
  auto commits = store.database()->commit_log();
  if (!commits) return std::move(commits).error();
  log_ = std::move(*commits);
  mark_ = std::make_unique<gateway::RecordMark>(files, *marks_, *log_, folder.dir);
  const auto done =
      gateway::repair_records(folder, *log_, *mark_, [&](const gateway::RecordRepair& so_far) {
        log.notice("record files in " + folder.dir + ": " + counted(so_far.compared, "session") +
                   " compared with the store, " + counted(so_far.lines, "line") + " written");
      });
  if (!done) return done.error();
  tell(*done, folder.dir, log);
  recorder_.keep(*mark_);
  return {};
}

void Records::close() {
  if (mark_) mark_->close();
}

}  // namespace verbatim::cli
