#include "base/worker.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace verbatim::base {
namespace {

class ThreadWorker final : public Worker {
 public:
  explicit ThreadWorker(const char* name) : thread_([this] { work(); }) {
    pthread_setname_np(thread_.native_handle(), name);
  }
  ~ThreadWorker() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_one();
    thread_.join();
  }
  void run(std::function<void()> job) override {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    ready_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Worker> thread_worker(const char* name) {
  return std::make_unique<ThreadWorker>(name);
}

}  // namespace verbatim::base
