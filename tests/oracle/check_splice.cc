// Invariant I2 (docs/design.md 1) against an oracle by provenance: along random conversations, the
// prompt that is built turn by turn must equal the full render of the whole history in which the
// block of each recorded turn, from its opener to its close token, is replaced by the recorded ids.
// The oracle knows how ChatML templates cut a conversation into blocks; it shares no code with
// Renderer::delta.
//
//   check_splice --tokenizer DIR --chat-template FILE --steps N --seed S --policy
//   injection_safe|hf_exact
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/random.h"
#include "chat/renderer.h"

namespace {

using namespace verbatim;
using base::TokenIds;
using message::Message;
using message::Role;

struct Options {
  std::string tokenizer;
  std::string chat_template;
  std::string policy = "injection_safe";
  std::uint64_t steps = 10000;
  std::uint64_t seed = 1;
};

// Words and characters that make borders: added tokens in text, newlines, joined emoji, combining
// marks, digits.
const std::vector<std::string> kPieces{"hello",
                                       " world",
                                       "\n",
                                       "\n\n",
                                       " ",
                                       "  ",
                                       "json",
                                       "renderer",
                                       "42",
                                       "1234567",
                                       "é",
                                       "e\u0301",
                                       "日本",
                                       "語",
                                       "😀",
                                       "👩‍👩‍👧",
                                       "<|im_end|>",
                                       "<|im_start|>",
                                       "<think>",
                                       "</think>",
                                       "<tool_call>",
                                       "\t",
                                       "don't",
                                       "x\r\n",
                                       "<|endoftext|>",
                                       "{\"a\": 1}",
                                       ".",
                                       ",",
                                       "שלום",
                                       "हिन्दी"};
const std::vector<std::string> kPlain{"hello",    " world", "\n",         " ",    "json", "p",
                                      "renderer", "42",     "é",          "日本", "😀",   ".",
                                      ",",        "don't",  "{\"a\": 1}", "word"};

std::string text_of(base::Random& random, const std::vector<std::string>& pieces,
                    std::size_t longest) {
  std::string text;
  for (std::uint64_t n = 1 + random.below(longest); n > 0; --n)
    text += pieces[random.below(pieces.size())];
  return text;
}

struct Turn {
  TokenIds region;  // opener, completion, and the close where it had to be added later
};

class Checker {
 public:
  Checker(const chat::Renderer& renderer, const Options& options)
      : renderer_(renderer), random_(options.seed), seed_(options.seed) {}

  // One conversation of some turns. False at the first difference.
  bool conversation() {
    messages_.clear();
    recorded_.clear();
    row_.clear();
    dropped_ = false;
    tools_ = random_.chance(500);
    if (random_.chance(700)) messages_.push_back(make(Role::kSystem, text_of(random_, kPieces, 6)));
    messages_.push_back(make(Role::kUser, text_of(random_, kPieces, 6)));
    if (!turn(0)) return false;
    for (std::uint64_t n = random_.below(9); n > 0; --n) {
      const std::size_t first = messages_.size();
      append_suffix();
      if (!turn(first)) return false;
      if (dropped_) return true;
    }
    return true;
  }

  std::uint64_t steps = 0;
  std::uint64_t classes[8] = {};
  std::uint64_t refused = 0;
  std::uint64_t cut = 0;
  std::uint64_t vanished = 0;

 private:
  // Templates take text in front of "</think>" for reasoning, which they may drop: such a message
  // is refused, and only such a one.
  [[nodiscard]] bool would_vanish(const base::Error& error) const {
    return error.kind == base::ErrorKind::kInvalidRequest && error.field.ends_with(".content") &&
           std::any_of(messages_.begin(), messages_.end(), [](const Message& m) {
             return m.role == Role::kAssistant && m.text.find("</think>") != std::string::npos;
           });
  }

  static Message make(Role role, std::string text) {
    Message m;
    m.role = role;
    m.text = std::move(text);
    return m;
  }

  Message assistant() {
    Message m = make(Role::kAssistant, random_.chance(800) ? text_of(random_, kPieces, 5) : "");
    if (random_.chance(500)) m.reasoning = text_of(random_, kPlain, 5);
    if (m.text.empty() || random_.chance(400))
      m.tool_calls.push_back({"c1", "look_up", R"({"key": "value", "n": 1})"});
    return m;
  }

  void append_suffix() {
    bool calls = !messages_.back().tool_calls.empty();
    for (std::uint64_t n = 1 + random_.below(4); n > 0; --n) {
      const bool last = n == 1;
      const auto kind = random_.below(10);
      if (calls && kind < 6) {
        for (std::uint64_t k = 1 + random_.below(2); k > 0; --k)
          messages_.push_back(make(Role::kTool, text_of(random_, kPieces, 6)));
      } else if (kind < 7) {
        messages_.push_back(make(Role::kUser, text_of(random_, kPieces, 6)));
      } else if (kind == 7) {
        messages_.push_back(make(Role::kSystem, text_of(random_, kPieces, 4)));
      } else if (kind == 8) {
        messages_.push_back(make(Role::kUser, "<tool_response>\n" + text_of(random_, kPieces, 3) +
                                                  "\n</tool_response>"));
      } else if (!last) {
        messages_.push_back(assistant());
      } else {
        messages_.push_back(make(Role::kUser, "go on"));
      }
      calls = !messages_.back().tool_calls.empty();
    }
  }

  // Plans and records one turn whose new messages begin at `first`.
  bool turn(std::size_t first) {
    const bool thinking_off = random_.chance(300);
    auto arguments = json::Document::parse(thinking_off ? R"({"enable_thinking": false})" : "{}");
    chat::TemplateInputs inputs;
    const message::Tool tool{
        "look_up",
        R"({"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {"key": {"type": "string"}}}}})"};
    if (tools_) inputs.tools = {&tool, 1};
    inputs.arguments = arguments->root();
    ++steps;

    TokenIds prompt;
    TokenIds close;
    if (first == 0) {
      auto rendered = renderer_.full(messages_, inputs);
      if (!rendered)
        return report("full render failed: " + rendered.error().field + " " +
                      rendered.error().message);
      prompt = rendered->ids;
    } else {
      auto delta = plan_delta(first, inputs, close);
      if (!delta && would_vanish(delta.error())) return ++vanished, dropped_ = true;
      if (!delta)
        return report("delta failed: " + delta.error().field + " " + delta.error().message);
      if (!*delta) return restart(inputs);
      prompt = row_;
      prompt.insert(prompt.end(), (*delta)->rendered.ids.begin(), (*delta)->rendered.ids.end());
    }
    if (!recorded_.empty() && !close.empty()) {
      auto& region = recorded_.back().second.region;  // the turn before: nothing was recorded since
      region.insert(region.end(), close.begin(), close.end());
    }
    const auto expected = oracle(inputs);
    if (!expected) return report("the oracle found no block for a recorded turn");
    if (prompt != *expected) return differ(prompt, *expected);
    keep_inserted_reasoning(first, inputs);
    sample(prompt, inputs);
    return true;
  }

  // nullopt: messages of these roles can't be appended; the conversation starts anew.
  base::Result<std::optional<chat::Delta>> plan_delta(std::size_t first,
                                                      const chat::TemplateInputs& inputs,
                                                      TokenIds& close) {
    chat::TurnEnd end;
    if (!completion_.empty()) end.last_id = completion_.back();
    end.reasoning_open = reasoning_open_;
    end.calls = messages_[first - 1].tool_calls;
    end.history_has_query = false;
    for (std::size_t i = 0; i < first; ++i)
      end.history_has_query = end.history_has_query || renderer_.is_query(messages_[i]);
    const auto suffix = std::span<const Message>(messages_).subspan(first);
    unsigned index = 0;
    for (const auto& m : suffix)
      index |= (renderer_.is_query(m) ? 1U : 0U) | (m.role == Role::kAssistant ? 2U : 0U) |
               (m.role == Role::kSystem ? 4U : 0U);
    auto delta = renderer_.delta(end, suffix, first, inputs);
    if (!delta) {
      if (delta.error().kind != base::ErrorKind::kUnsupported) return std::move(delta).error();
      ++refused;
      return std::optional<chat::Delta>();
    }
    ++classes[index];
    std::size_t at = 0;
    for (const auto& span : delta->rendered.spans) {
      if (span.source == message::SpanSource::kClose)
        close.assign(delta->rendered.ids.begin() + static_cast<std::ptrdiff_t>(at),
                     delta->rendered.ids.begin() + static_cast<std::ptrdiff_t>(at + span.count));
      at += span.count;
    }
    if (at != delta->rendered.ids.size()) return base::invalid("spans", "do not tile the prompt");
    return std::optional(std::move(*delta));
  }

  bool restart(const chat::TemplateInputs& inputs) {
    recorded_.clear();
    auto rendered = renderer_.full(messages_, inputs);
    if (!rendered && would_vanish(rendered.error())) return ++vanished, dropped_ = true;
    if (!rendered) return report("full render failed: " + rendered.error().message);
    keep_inserted_reasoning(0, inputs);
    sample(rendered->ids, inputs);
    return true;
  }

  TokenIds encode(const chat::jinja::Text& text) const { return renderer_.encode(text, 0).ids; }

  // A part of a text with its sources.
  static chat::jinja::Text part(const chat::jinja::Text& text, std::size_t begin, std::size_t end) {
    chat::jinja::Text out;
    out.bytes = text.bytes.substr(begin, end - begin);
    std::size_t at = 0;
    for (const auto& run : text.runs) {
      const std::size_t from = std::max(begin, at);
      const std::size_t to = std::min(end, at + run.size);
      if (from < to) out.runs.push_back({static_cast<std::uint32_t>(to - from), run.source});
      at += run.size;
    }
    return out;
  }

  // Number of the ChatML block that holds each message: a leading system message shares its block
  // with the tools, runs of tool messages share one.
  std::vector<std::size_t> blocks() const {
    std::vector<std::size_t> numbers;
    std::size_t next = tools_ && messages_[0].role != Role::kSystem ? 1 : 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (i > 0 && messages_[i].role == Role::kTool && messages_[i - 1].role == Role::kTool) {
        numbers.push_back(next - 1);
      } else {
        numbers.push_back(next++);
      }
    }
    return numbers;
  }

  // Where blocks begin and end in a render: openers and close tokens that the template wrote.
  struct Borders {
    std::vector<std::size_t> begins;
    std::vector<std::size_t> ends;
  };
  static Borders borders(const chat::jinja::Text& text) {
    Borders found;
    std::size_t at = 0;
    for (const auto& run : text.runs) {
      if (run.source == chat::jinja::kTemplate) {
        const std::string_view bytes = std::string_view(text.bytes).substr(at, run.size);
        for (std::size_t p = bytes.find("<|im_start|>"); p != std::string_view::npos;
             p = bytes.find("<|im_start|>", p + 1))
          found.begins.push_back(at + p);
        for (std::size_t p = bytes.find("<|im_end|>"); p != std::string_view::npos;
             p = bytes.find("<|im_end|>", p + 1))
          found.ends.push_back(at + p + 10);
      }
      at += run.size;
    }
    return found;
  }

  // Retention: reasoning that a client inserted and that stood in a prompt stays there, although
  // the template would drop it once a user query follows. From the step on in which it was checked,
  // its block counts as recorded.
  void keep_inserted_reasoning(std::size_t first, const chat::TemplateInputs& inputs) {
    const auto full = renderer_.text(messages_, inputs);
    const auto cut_at = borders(*full);
    const auto numbers = blocks();
    for (std::size_t i = first; i < messages_.size(); ++i) {
      const bool reasoning =
          messages_[i].reasoning || messages_[i].text.find("</think>") != std::string::npos;
      if (messages_[i].role != Role::kAssistant || !reasoning) continue;
      recorded_.emplace_back(
          i, Turn{encode(part(*full, cut_at.begins[numbers[i]], cut_at.ends[numbers[i]]))});
    }
  }

  std::optional<TokenIds> oracle(const chat::TemplateInputs& inputs) const {
    auto full = renderer_.text(messages_, inputs);
    if (!full) return std::nullopt;
    const auto [begins, ends] = borders(*full);
    const auto numbers = blocks();
    TokenIds ids;
    std::size_t done = 0;
    for (const auto& [message, turn] : recorded_) {
      const std::size_t block = numbers[message];
      if (block >= begins.size() || block >= ends.size()) return std::nullopt;
      const auto before = encode(part(*full, done, begins[block]));
      ids.insert(ids.end(), before.begin(), before.end());
      ids.insert(ids.end(), turn.region.begin(), turn.region.end());
      done = ends[block];
    }
    const auto rest = encode(part(*full, done, full->bytes.size()));
    ids.insert(ids.end(), rest.begin(), rest.end());
    return ids;
  }

  // The model's answer: ids that are not the canonical encoding of their text, ended by a close
  // token, or cut.
  void sample(const TokenIds& prompt, const chat::TemplateInputs& inputs) {
    const auto& tokenizer = renderer_.tokenizer();
    const auto id = [&](const char* content) { return tokenizer.added(content)->id; };
    completion_.clear();
    Message answer = make(Role::kAssistant, "");
    const bool off = inputs.arguments->get("enable_thinking").has_value();
    reasoning_open_ = false;
    const auto odd = [&](const std::string& text) {
      std::string piece;
      for (std::size_t i = 0; i < text.size(); ++i) {
        piece += text[i];
        const bool whole =
            i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xc0) != 0x80;
        if (whole && (i + 1 == text.size() || random_.chance(300))) {
          tokenizer.encode(piece, completion_);
          piece.clear();
        }
      }
    };
    const bool cut_turn = random_.chance(150);
    if (!off && random_.chance(600)) {
      completion_.push_back(id("<think>"));
      answer.reasoning = text_of(random_, kPlain, 5);
      odd("\n" + *answer.reasoning + "\n");
      reasoning_open_ = cut_turn && random_.chance(500);
      if (!reasoning_open_) {
        completion_.push_back(id("</think>"));
        odd("\n\n");
      }
    }
    if (!reasoning_open_) {
      answer.text = text_of(random_, kPlain, 5);
      odd(answer.text);
      if (!cut_turn && random_.chance(400)) {
        completion_.push_back(id("<tool_call>"));
        answer.tool_calls.push_back({"c1", "look_up", R"({"key": "v"})"});
        odd("\n{\"name\": \"look_up\", \"arguments\": {\"key\": \"v\"}}\n");
        completion_.push_back(id("</tool_call>"));
      }
    }
    if (!cut_turn) completion_.push_back(id("<|im_end|>"));
    if (cut_turn && random_.chance(200)) completion_.push_back(id("<|endoftext|>"));
    if (cut_turn) ++cut;
    row_ = prompt;
    row_.insert(row_.end(), completion_.begin(), completion_.end());
    Turn turn;
    std::size_t opener = prompt.size();
    while (opener > 0 && prompt[opener - 1] != id("<|im_start|>")) --opener;
    turn.region.assign(row_.begin() + static_cast<std::ptrdiff_t>(opener - 1), row_.end());
    recorded_.emplace_back(messages_.size(), std::move(turn));
    messages_.push_back(std::move(answer));
  }

  bool report(const std::string& what) const {
    std::printf("seed %llu, step %llu: %s\n", static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(steps), what.c_str());
    for (const auto& m : messages_)
      std::printf("  %s: %s | reasoning %s | %zu calls\n",
                  std::string(message::name(m.role)).c_str(), m.text.c_str(),
                  m.reasoning.value_or("-").c_str(), m.tool_calls.size());
    return false;
  }

  bool differ(const TokenIds& got, const TokenIds& want) const {
    std::size_t i = 0;
    while (i < got.size() && i < want.size() && got[i] == want[i]) ++i;
    const auto around = [&](const TokenIds& ids) {
      const std::size_t from = i < 8 ? 0 : i - 8;
      return renderer_.tokenizer().decode(
          std::span(ids).subspan(from, std::min<std::size_t>(30, ids.size() - from)));
    };
    return report("prompts differ at id " + std::to_string(i) + "\n--- incremental\n" +
                  around(got) + "\n--- oracle\n" + around(want));
  }

  const chat::Renderer& renderer_;
  base::SeededRandom random_;
  std::uint64_t seed_;
  bool tools_ = false;
  std::vector<Message> messages_;
  std::vector<std::pair<std::size_t, Turn>> recorded_;  // answers the model gave, by place
  TokenIds row_;
  TokenIds completion_;
  bool reasoning_open_ = false;
  bool dropped_ = false;  // the request was refused: the conversation ends
};

int run(const Options& options) {
  const auto files = base::system_files();
  const auto tokenizer = tokenizer::Tokenizer::load(*files, options.tokenizer);
  if (!tokenizer) return std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str()), 2;
  const auto text = files->read(options.chat_template, 1 << 20);
  if (!text) return std::fprintf(stderr, "%s\n", text.error().message.c_str()), 2;
  auto family = chat::recognise_family(**tokenizer, *text);
  if (!family) return std::fprintf(stderr, "%s\n", family.error().message.c_str()), 2;
  chat::Renderer::Options render;
  render.policy = options.policy == "hf_exact" ? tokenizer::EncodingPolicy::kHfExact
                                               : tokenizer::EncodingPolicy::kInjectionSafe;
  const auto renderer = chat::Renderer::create(*tokenizer, *text, *family, render);
  if (!renderer) return std::fprintf(stderr, "%s\n", renderer.error().message.c_str()), 2;
  std::printf("family %s, policy %s, seed %llu; %s\n", family->name.c_str(), options.policy.c_str(),
              static_cast<unsigned long long>(options.seed),
              (*renderer)->describe_classes().c_str());

  Checker checker(**renderer, options);
  while (checker.steps < options.steps) {
    if (!checker.conversation())
      return std::printf("%llu passed, 1 failed\n",
                         static_cast<unsigned long long>(checker.steps - 1)),
             1;
  }
  std::printf("suffix classes (1 query, 2 assistant, 4 system):");
  for (unsigned i = 0; i < 8; ++i)
    std::printf(" %u:%llu", i, static_cast<unsigned long long>(checker.classes[i]));
  std::printf("; %llu turns were cut, %llu suffixes started a new root, %llu were refused\n",
              static_cast<unsigned long long>(checker.cut),
              static_cast<unsigned long long>(checker.refused),
              static_cast<unsigned long long>(checker.vanished));
  std::printf("%llu passed, 0 failed\n", static_cast<unsigned long long>(checker.steps));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program{"checks incremental prompts against a splice oracle"};
  Options options;
  program.add_option("--tokenizer", options.tokenizer)->required();
  program.add_option("--chat-template", options.chat_template)->required();
  program.add_option("--policy", options.policy)
      ->check(CLI::IsMember({"injection_safe", "hf_exact"}));
  program.add_option("--steps", options.steps);
  program.add_option("--seed", options.seed);
  CLI11_PARSE(program, argc, argv);
  return run(options);
}
