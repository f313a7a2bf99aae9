#pragma once

#include <memory>
#include <string>

#include "base/files.h"
#include "base/worker.h"
#include "cli/log.h"
#include "cli/store_options.h"
#include "gateway/record_repair.h"
#include "gateway/recorder.h"

namespace verbatim::cli {

// The record files of a gateway: repaired from the store before anything is served, then written
// behind each commit. A store in memory has nothing to repair them from.
//
// Life: opened before the executors run, closed when they have ended, destroyed before the store.
class Records {
 public:
  // Tells what was repaired, and how far a long repair is. `log` outlives this.
  static base::Result<std::unique_ptr<Records>> open(base::Files& files, const std::string& dir,
                                                     const std::string& checkpoint,
                                                     StoreHome& store, Log& log);
  [[nodiscard]] gateway::Recorder& recorder() { return recorder_; }
  // Nothing is committed any more.
  void close();

 private:
  Records(base::Files& files, const std::string& dir, const std::string& checkpoint)
      : recorder_(files, *lines_, dir, checkpoint) {}
  base::Status follow(base::Files& files, const gateway::RecordFolder& folder, StoreHome& store,
                      Log& log);

  std::unique_ptr<store::CommitLog> log_;
  std::unique_ptr<gateway::RecordMark> mark_;
  std::unique_ptr<base::Worker> marks_ = base::thread_worker("record-marks");
  std::unique_ptr<base::Worker> lines_ = base::thread_worker("records");
  gateway::Recorder recorder_;
};

}  // namespace verbatim::cli
