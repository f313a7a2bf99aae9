#include "cli/parts_end.h"

#include <utility>

namespace verbatim::cli {

PartsEnd::PartsEnd(net::LoopThreads& loops, Log& log, std::string what, Drain drain, Hurry hurry)
    : loops_(loops),
      log_(log),
      what_(std::move(what)),
      drain_(std::move(drain)),
      hurry_(std::move(hurry)) {}

void PartsEnd::signalled() {
  if (signals_ == 2) return;
  const bool first = ++signals_ == 1;
  log_.notice(first ? "shutting down: " + what_ + " may end within " +
                          std::to_string(kDrainTime.count()) + " s; another signal ends them now"
                    : "told again: what still runs ends now");
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    loops_[i].post([this, i, first] {
      if (first) return base::spawn(end(i));
      hurry_(i);
    });
  }
}

base::Task<void> PartsEnd::end(std::size_t part) {
  co_await drain_(part);
  if (++ended_ < loops_.size()) co_return;
  for (std::size_t i = 0; i < loops_.size(); ++i) loops_[i].post([this, i] { loops_[i].stop(); });
}

}  // namespace verbatim::cli
