#include "simulate/kept_records.h"

#include "gateway/record_repair.h"

namespace verbatim::simulate {

namespace {

constexpr const char* kTokenizer = "toy";
// So few that marks are written all the time.
constexpr std::uint64_t kLinesOfAMark = 7;
// Of a repair: one in a hundred of its files meets a fault.
constexpr int kTries = 1000;

}  // namespace

void KeptRecords::begin(KeptStore& store, Findings& findings) {
  recorder_ = std::make_unique<gateway::Recorder>(files_, worker_, kFolder, kTokenizer);
  (void)recorder_->open();
  if (store.disk() == nullptr) return;
  auto log = store.commit_log();
  findings.check(log.ok(), "records", "the commits of an open store", "an error");
  log_ = std::move(*log);
  marks_ = std::make_unique<base::sim::SimWorker>(executor_, seed_);
  mark_ = std::make_unique<gateway::RecordMark>(files_, *marks_, *log_, kFolder, kLinesOfAMark);
  repair(*log_, findings);
  recorder_->keep(*mark_);
}

void KeptRecords::repair(store::CommitLog& log, Findings& findings) {
  const gateway::RecordFolder folder{files_, kFolder, kTokenizer};
  for (int tries = 0; tries < kTries; ++tries) {
    const auto done = gateway::repair_records(folder, log, *mark_, nullptr);
    if (!done) continue;
    findings.check(done->damaged == 0, "records", "sessions that can be read", "a damaged one");
    repaired_ += done->lines;
    return;
  }
  findings.check(false, "records", "a repair that comes to an end", "none");
}

void KeptRecords::end() {
  // What is queued runs.
  marks_ = nullptr;
  recorder_ = nullptr;
  mark_ = nullptr;
  log_ = nullptr;
}

}  // namespace verbatim::simulate
