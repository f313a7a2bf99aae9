#include "simulate/author.h"

#include "simulate/words.h"

namespace verbatim::simulate {
namespace {

std::string some_call(base::Random& random) {
  std::string call = R"({"name": "weather", "arguments": )" + some_arguments(random) + "}";
  // Now and then the model breaks its own format.
  if (random.chance(60)) call.resize(call.size() / 2);
  return "<tool_call>\n" + call + "\n</tool_call>";
}

std::string some_text(base::Random& random) {
  std::string text;
  if (random.chance(300)) {
    text += "<think>\n" + some_words(random, random.below(8));
    text += random.chance(950) ? "\n</think>\n\n" : "";
  }
  const bool calls = random.chance(350);
  if (!calls || random.chance(300)) text += some_words(random, random.below(10));
  if (!calls) return text;
  for (auto left = random.chance(250) ? 2 : 1; left > 0; --left) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += some_call(random);
  }
  return text;
}

}  // namespace

sim::Reply some_reply(base::Random& random) {
  sim::Reply reply;
  reply.text = some_text(random);
  if (random.chance(400))
    reply.delay = std::chrono::milliseconds(random.below(random.chance(50) ? 3000 : 30));
  if (random.chance(300))
    reply.token_delay = std::chrono::milliseconds(1 + random.below(random.chance(150) ? 60 : 6));
  return reply;
}

}  // namespace verbatim::simulate
