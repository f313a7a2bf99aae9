#include "gateway/grace.h"

namespace verbatim::gateway {

Grace::Grace(base::Executor& executor, base::Duration grace, base::CancelSignal& turns)
    : time(grace),
      executor_(executor),
      turns_(turns),
      shared_(std::make_shared<Shared>(Shared{executor, this})) {}

Grace::~Grace() {
  shared_->grace = nullptr;
}

std::function<void()> Grace::on_abandoned() const {
  return [shared = shared_] {
    shared->executor.post([shared] {
      if (shared->grace != nullptr) shared->grace->begin();
    });
  };
}

void Grace::begin() {
  timer_.arm(executor_.timers(), executor_.clock().now() + time, [this] {
    if (!give_up || give_up()) turns_.fire("the client hung up and did not ask again");
  });
}

}  // namespace verbatim::gateway
