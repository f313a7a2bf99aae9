#include "gateway/session_page.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/timestamp.h"
#include "base/utf8.h"
#include "gateway/usage.h"
#include "message/fold.h"

namespace verbatim::gateway {
namespace {

using store::TurnPtr;
using trajectory::Attach;

// A page is for reading: what is longer can be had as JSON.
constexpr std::size_t kMaxText = 4000;      // bytes of a message that are shown
constexpr std::size_t kMaxTurns = 1000;     // of a session
constexpr std::size_t kMaxPage = 16 << 20;  // bytes; no more turns behind

constexpr std::string_view kStyle = R"(
body{font:15px/1.45 system-ui,sans-serif;margin:1.5rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}
table{border-collapse:collapse}td,th{text-align:left;padding:.1rem .9rem .1rem 0;vertical-align:top;font-weight:400}
th{color:#57606a}
section{border-left:3px solid #d0d7de;padding-left:.9rem;margin:.8rem 0}
p,pre,td,summary{unicode-bidi:isolate}details{margin:.35rem 0}summary{cursor:pointer}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f8fa;padding:.5rem .7rem;margin:.25rem 0;border-radius:4px}
.root{color:#9a3412}.child{color:#1a7f37}.faint{color:#57606a}.sampled{background:#fdf0fb}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}section{border-color:#30363d}
.root{color:#ffa657}.child{color:#56d364}th,.faint{color:#8d96a0}.sampled{background:#2a1a2e}}
)";

void append_text(std::string_view text, std::string& out) {
  std::string valid;
  if (!base::valid_utf8(text)) {
    if (base::append_lossy(text, valid) != 0) valid += base::kReplacement;
    text = valid;
  }
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // No HTML holds other control characters.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
          out += c;
        } else {
          out += base::kReplacement;
        }
    }
  }
}

// Where a text of at most `size` bytes ends without cutting a character.
std::size_t cut_at(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text.size();
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return size;
}

std::string fixed(double value, int decimals) {
  char digits[64];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr;
  return {digits, end};
}

std::string seconds(std::int64_t us) {
  return fixed(static_cast<double>(us) / 1e6, us < 10'000'000 ? 3 : 1) + " s";
}

// "2026-11-30 22:41:07 UTC"
std::string date(std::int64_t ms) {
  const std::string at = base::timestamp(ms);
  return at.substr(0, 10) + " " + at.substr(11, 8) + " UTC";
}

// Writes the page. All that comes from outside goes through text().
class Page {
 public:
  Page& markup(std::string_view html) {
    out_ += html;
    return *this;
  }
  Page& text(std::string_view text) {
    append_text(text, out_);
    return *this;
  }
  void row(std::string_view name, std::string_view value) {
    markup("<tr><th>").text(name).markup("</th><td>").text(value).markup("</td></tr>\n");
  }
  // A text that may be long, behind a summary.
  void block(std::string_view title, std::string_view body, bool sampled) {
    const auto end = cut_at(body, kMaxText);
    markup("<p class=\"faint\">").text(title).markup("</p><pre");
    markup(sampled ? " class=\"sampled\">" : ">").text(body.substr(0, end));
    if (end < body.size()) text(" … and " + std::to_string(body.size() - end) + " bytes more");
    markup("</pre>\n");
  }
  [[nodiscard]] std::size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void write_message(Page& page, const message::Message& message, bool sampled) {
  const std::string role(message::name(message.role));
  if (message.reasoning && !message.reasoning->empty())
    page.block(role + ", reasoning", *message.reasoning, sampled);
  if (!message.text.empty() || message.tool_calls.empty())
    page.block(role + (message.tool_call_id.empty() ? "" : " " + message.tool_call_id),
               message.text, sampled);
  if (const auto parts = message::parts_of(message); !parts.empty())
    page.block(role + ", all parts", parts, sampled);
  for (const auto& call : message.tool_calls)
    page.block(role + ", calls " + call.name + " " + call.id, call.arguments, sampled);
}

std::string how(const trajectory::Turn& turn) {
  const auto& attach = turn.attach;
  std::string text =
      attach.kind == Attach::Kind::kRoot
          ? "new root (" + attach.reason + ")"
          : "behind turn " + std::to_string(turn.parent->seq) + " (" + attach.reason + ")";
  if (attach.ambiguous) text += "; several turns matched, the newest was taken";
  if (attach.difference)
    text += "; first difference from the turn before: messages[" +
            std::to_string(attach.difference->message) + "]" +
            (attach.difference->field.empty() ? "" : " " + attach.difference->field);
  return text;
}

void write_facts(Page& page, const trajectory::Turn& turn) {
  const auto usage = usage_of(turn);
  page.markup("<table>\n");
  page.row("attached", how(turn));
  std::string ids = std::to_string(usage.prompt_tokens) + " prompt";
  if (turn.token_exact) ids += " (" + std::to_string(turn.prompt.size()) + " rendered for it";
  if (usage.cached_tokens)
    ids += (turn.token_exact ? ", " : " (") + std::to_string(*usage.cached_tokens) +
           " cached by the engine";
  if (turn.token_exact || usage.cached_tokens) ids += ")";
  ids += ", " + std::to_string(usage.completion_tokens) + " sampled";
  if (!turn.discarded.empty()) ids += ", " + std::to_string(turn.discarded.size()) + " discarded";
  page.row("ids", turn.token_exact ? ids : ids + "; by messages: not token-exact");
  page.row("time", seconds(turn.times.first_token_us) + " to the first ids, " +
                       seconds(turn.times.total_us) + " in all; committed " +
                       date(turn.times.committed_ms));
  page.row("finish", std::string(message::name(turn.finish)) +
                         (turn.engine_finish.empty() ? "" : " (" + turn.engine_finish + ")"));
  page.row("engine", turn.engine_url + " (" + turn.engine_kind + ", " + turn.engine_mode + ")");
  for (const auto& span : turn.weight_versions) page.row("weights", span.version);
  page.row("request", turn.request_id);
  page.row("turn", std::to_string(turn.id));
  page.markup("</table>\n");
}

void write_turn(Page& page, const trajectory::Turn& turn) {
  const bool root = turn.attach.kind == Attach::Kind::kRoot;
  const auto usage = usage_of(turn);
  page.markup("<details id=\"turn-").markup(std::to_string(turn.seq)).markup("\"><summary>");
  page.text("Turn " + std::to_string(turn.seq) + " ");
  page.markup(root ? "<span class=\"root\">" : "<span class=\"child\">");
  page.text((root ? "new root: " : "attached: ") + turn.attach.reason).markup("</span> ");
  page.markup("<span class=\"faint\">");
  page.text(std::to_string(usage.prompt_tokens) + " + " + std::to_string(usage.completion_tokens) +
            " ids, " + seconds(turn.times.total_us) + ", " +
            std::string(message::name(turn.finish)));
  page.markup("</span></summary>\n");
  write_facts(page, turn);
  for (const auto& message : turn.messages) {
    if (page.size() <= kMaxPage) write_message(page, message, false);
  }
  write_message(page, turn.answer, true);
  page.markup("</details>\n");
}

void write_session(Page& page, const store::SessionInfo& session) {
  const auto& spec = *session.spec;
  page.markup("<table>\n");
  page.row("created", date(spec.created_ms));
  page.row("last used", date(session.last_used_ms));
  page.row("turns", std::to_string(session.turns));
  page.row("ids", std::to_string(session.tokens));
  page.row("bytes", std::to_string(session.bytes));
  page.row("made by", session.implicit ? "its first turn" : "POST /sessions");
  if (!spec.options.empty()) page.row("options", spec.options);
  if (!spec.metadata.empty())
    page.row("metadata",
             std::string_view(spec.metadata).substr(0, cut_at(spec.metadata, kMaxText)));
  page.markup("</table>\n");
}

// The turns of one line, which begins at a root or leaves another line.
using Line = std::vector<TurnPtr>;

// In order of their first turns.
std::vector<Line> lines_of(const std::vector<TurnPtr>& turns) {
  std::vector<Line> lines;
  std::map<std::uint64_t, std::size_t> by_branch;
  for (const auto& turn : turns) {
    const auto [it, is_new] = by_branch.try_emplace(turn->branch, lines.size());
    if (is_new) lines.emplace_back();
    lines[it->second].push_back(turn);
  }
  return lines;
}

void write_lines(Page& page, const std::vector<TurnPtr>& turns) {
  std::size_t shown = 0;
  std::size_t number = 0;
  for (const auto& line : lines_of(turns)) {
    if (shown >= kMaxTurns || page.size() > kMaxPage) break;
    const auto& parent = line.front()->parent;
    page.markup("<h2>").text("Line " + std::to_string(++number));
    if (parent) {
      page.markup(" <span class=\"faint\">, leaves another behind <a href=\"#turn-");
      page.markup(std::to_string(parent->seq)).markup("\">turn ");
      page.markup(std::to_string(parent->seq)).markup("</a></span>");
    }
    page.markup("</h2>\n<section>\n");
    for (const auto& turn : line) {
      if (shown >= kMaxTurns || page.size() > kMaxPage) break;
      write_turn(page, *turn);
      ++shown;
    }
    page.markup("</section>\n");
  }
  if (shown < turns.size())
    page.markup("<p>")
        .text(std::to_string(turns.size() - shown) +
              " more turns are not shown here; as JSON you get them all.")
        .markup("</p>\n");
  if (turns.empty()) page.markup("<p>No turns yet.</p>\n");
}

// What one entry of an Accept field says: its range, and how gladly.
struct Range {
  std::string_view name;
  double quality = 1;
};

std::string_view trimmed(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

Range read_range(std::string_view entry) {
  Range range;
  range.name = trimmed(entry.substr(0, entry.find(';')));
  while (true) {
    const auto semicolon = entry.find(';');
    if (semicolon == std::string_view::npos) return range;
    entry.remove_prefix(semicolon + 1);
    const auto parameter = trimmed(entry.substr(0, entry.find(';')));
    if (parameter.size() < 3 || !net::equals_ignoring_case(parameter.substr(0, 2), "q=")) continue;
    const auto [end, failed] =
        std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), range.quality);
    if (failed != std::errc()) range.quality = 0;
  }
}

}  // namespace

bool prefers_page(std::string_view accept) {
  double page = 0;
  double json = 0;
  // The narrowest range that fits decides (RFC 9110 12.5.1).
  int width = 0;
  while (!accept.empty()) {
    const auto comma = std::min(accept.find(','), accept.size());
    const auto range = read_range(accept.substr(0, comma));
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    const auto is = [&](std::string_view name) {
      return net::equals_ignoring_case(range.name, name);
    };
    if (is("text/html")) page = range.quality;
    const int fits = is("application/json") ? 3 : is("application/*") ? 2 : is("*/*") ? 1 : 0;
    if (fits > width) {
      width = fits;
      json = range.quality;
    }
  }
  return page > json;
}

net::Headers page_headers(std::string_view nonce) {
  net::Headers headers;
  headers.add("Content-Type", "text/html; charset=utf-8");
  headers.add("Content-Security-Policy",
              "default-src 'none'; style-src 'nonce-" + std::string(nonce) +
                  "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  headers.add("X-Content-Type-Options", "nosniff").add("Referrer-Policy", "no-referrer");
  headers.add("Cache-Control", "no-store").add("Vary", "Accept");
  return headers;
}

std::string session_page(const store::SessionInfo& session, const std::vector<TurnPtr>& turns,
                         std::string_view nonce) {
  Page page;
  page.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
  page.text("Session " + session.spec->id).markup("</title>\n<style nonce=\"");
  page.text(nonce).markup("\">").markup(kStyle).markup("</style>\n</head>\n<body>\n<h1>");
  page.text("Session " + session.spec->id).markup("</h1>\n");
  write_session(page, session);
  write_lines(page, turns);
  page.markup("</body>\n</html>\n");
  return page.take();
}

}  // namespace verbatim::gateway
