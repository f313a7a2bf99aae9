#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "net/sse.h"

// The first two bytes say where the rest is cut in two: both cuts must give the same events; what
// is written must be read back.
namespace verbatim::net {
namespace {

std::string events_of(const std::vector<std::string_view>& pieces) {
  std::string out;
  SseReader reader(1000);
  for (const std::string_view piece : pieces) {
    const auto status = reader.feed(piece, [&](const SseEvent& event) -> base::Status {
      if (event.data.size() > 1000) std::abort();
      out.append(event.event).append("|").append(event.data).append("|").append(event.id);
      out += event.retry_ms ? std::to_string(*event.retry_ms) + "\n" : "\n";
      return {};
    });
    if (!status.ok()) return out + "failed";
  }
  return out + (reader.unfinished() ? "unfinished" : "");
}

}  // namespace
}  // namespace verbatim::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim::net;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = (static_cast<std::size_t>(data[0]) * 256 + data[1]) % (bytes.size() + 1);
  // Nothing may depend on the cut, the bound included.
  if (events_of({bytes}) != events_of({bytes.substr(0, cut), bytes.substr(cut)})) std::abort();

  if (bytes.size() > 300) return 0;
  std::string written;
  append_sse_data(written, bytes);
  int events = 0;
  SseReader reader(10'000);
  const auto status = reader.feed(written, [&](const SseEvent&) -> verbatim::base::Status {
    ++events;
    return {};
  });
  if (!status.ok() || events != 1 || reader.unfinished()) std::abort();
  return 0;
}
