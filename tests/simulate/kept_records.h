#pragma once

#include <memory>

#include "base/sim/sim_executor.h"
#include "base/sim/sim_files.h"
#include "base/sim/sim_worker.h"
#include "gateway/recorder.h"
#include "simulate/findings.h"
#include "simulate/kept_store.h"

namespace verbatim::simulate {

// The record files of a world, from one start of its gateway to the next: brought to what the store
// holds first, where that is on disk, with the folder's faults in the way.
class KeptRecords {
 public:
  static constexpr const char* kFolder = "records";
  KeptRecords(base::sim::SimExecutor& executor, base::sim::SimFiles& files, base::Worker& worker,
              std::uint64_t seed)
      : executor_(executor), files_(files), worker_(worker), seed_(seed) {}
  ~KeptRecords() { end(); }

  void begin(KeptStore& store, Findings& findings);
  // The gateway has ended, and the store is open yet.
  void end();
  // Null: between an end and a beginning.
  [[nodiscard]] gateway::Recorder* recorder() { return recorder_.get(); }
  // Since the last beginning.
  [[nodiscard]] std::uint64_t failed_lines() const { return recorder_->failed_lines(); }
  [[nodiscard]] std::uint64_t repaired_lines() const { return repaired_; }

 private:
  void repair(store::CommitLog& log, Findings& findings);

  base::sim::SimExecutor& executor_;
  base::sim::SimFiles& files_;
  base::Worker& worker_;
  const std::uint64_t seed_;
  std::uint64_t repaired_ = 0;
  std::unique_ptr<gateway::Recorder> recorder_;
  std::unique_ptr<store::CommitLog> log_;
  std::unique_ptr<gateway::RecordMark> mark_;
  std::unique_ptr<base::sim::SimWorker> marks_;
};

}  // namespace verbatim::simulate
