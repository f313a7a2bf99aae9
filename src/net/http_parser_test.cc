#include "net/http_parser.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::net {
namespace {

// What came out of one connection's bytes, as text that can be compared.
struct Outcome {
  std::vector<std::string> requests;
  int refused = 0;
  bool at_border = false;  // nothing of a further request has come
  bool operator==(const Outcome&) const = default;
};

std::string printed(const Request& request) {
  std::string text = std::string(request.method) + " " + std::string(request.target) + " [" +
                     std::string(request.path) + "|" + std::string(request.query) + "] 1." +
                     std::to_string(request.minor_version) + "\n";
  for (const auto field : request.headers)
    text += std::string(field.name) + "=" + std::string(field.value) + "\n";
  return text + request.body;
}

Outcome parse(const std::vector<std::string_view>& pieces, const HttpLimits& limits) {
  Outcome out;
  RequestParser parser(limits);
  Request request;
  parser.start(request);
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      piece.remove_prefix(parser.feed(piece));
      if (parser.state() == RequestParser::State::kFailed) {
        out.refused = parser.failure().status;
        return out;
      }
      if (parser.state() == RequestParser::State::kDone) {
        out.requests.push_back(printed(request));
        parser.start(request);
      }
    }
  }
  out.at_border = parser.idle();
  return out;
}

Outcome parse_whole(std::string_view bytes) {
  return parse({bytes}, HttpLimits{});
}

void expect_same_for_every_cut(std::string_view bytes, const HttpLimits& limits) {
  const Outcome whole = parse({bytes}, limits);
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    EXPECT_EQ(parse({bytes.substr(0, at), bytes.substr(at)}, limits), whole) << "cut at " << at;
  }
  std::vector<std::string_view> single;
  for (std::size_t at = 0; at < bytes.size(); ++at) single.push_back(bytes.substr(at, 1));
  EXPECT_EQ(parse(single, limits), whole) << "byte by byte";
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'r':
        out += '\r';
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'x':
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

TEST(HttpParser, the_smuggling_corpus_is_accepted_and_refused_as_written_for_every_cut) {
  std::ifstream file("tests/cases/http/smuggling.txt");
  ASSERT_TRUE(file.is_open());
  std::string line;
  int entries = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    std::string bytes;
    ASSERT_TRUE(std::getline(file, bytes));
    bytes = unescaped(bytes);
    SCOPED_TRACE(line);
    ++entries;
    const bool accepted = line.starts_with("accepted ");
    const int number = std::stoi(line.substr(accepted ? 9 : 8));
    const Outcome outcome = parse_whole(bytes);
    if (accepted) {
      EXPECT_EQ(outcome.refused, 0);
      EXPECT_EQ(outcome.requests.size(), static_cast<std::size_t>(number));
      EXPECT_TRUE(outcome.at_border);
    } else {
      EXPECT_EQ(outcome.refused, number);
    }
    expect_same_for_every_cut(bytes, HttpLimits{});
  }
  EXPECT_GT(entries, 100);
}

TEST(HttpParser, a_request_is_taken_apart) {
  const auto out = parse_whole(
      "POST /v1/chat?a=b&c HTTP/1.1\r\nHost: x\r\nX-A:  one \r\nx-a: two\r\nContent-Length: "
      "5\r\n\r\nhello");
  ASSERT_EQ(out.requests.size(), 1U);
  EXPECT_EQ(out.requests[0],
            "POST /v1/chat?a=b&c [/v1/chat|a=b&c] "
            "1.1\nHost=x\nX-A=one\nx-a=two\nContent-Length=5\nhello");
}

TEST(HttpParser, absolute_targets_lose_scheme_and_authority) {
  const auto path = [](const std::string& target) {
    const auto out = parse_whole("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return out.requests.empty() ? "refused" : out.requests[0].substr(out.requests[0].find('['));
  };
  EXPECT_TRUE(path("http://h:80/a/b?c=d").starts_with("[/a/b|c=d]"));
  EXPECT_TRUE(path("http://h").starts_with("[/|]"));
  EXPECT_TRUE(path("/http://h/a").starts_with("[/http://h/a|]"));
  EXPECT_TRUE(path("/?").starts_with("[/|]"));
}

TEST(HttpParser, limits_are_answered_with_their_status) {
  HttpLimits limits;
  limits.head_bytes = 500;
  limits.header_fields = 5;
  limits.target_bytes = 100;
  limits.body_bytes = 50;
  limits.chunk_line_bytes = 20;
  limits.chunk_extension_bytes = 30;
  limits.trailer_bytes = 40;
  const auto status = [&](const std::string& bytes) {
    expect_same_for_every_cut(bytes, limits);
    return parse({bytes}, limits).refused;
  };
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(440, 'x') + "\r\n\r\n"), 0);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(500, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n"), 0);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n"),
            431);
  EXPECT_EQ(status("GET /" + std::string(99, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(status("GET /" + std::string(100, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
  EXPECT_EQ(status("GET /" + std::string(300, 'x')), 414);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 51\r\n\r\n"), 413);
  EXPECT_EQ(status(post + "32\r\n" + std::string(50, 'x') + "\r\n0\r\n\r\n"), 0);
  EXPECT_EQ(status(post + "31\r\n" + std::string(49, 'x') + "\r\n2\r\nab"), 413);
  EXPECT_EQ(status(post + "1;" + std::string(18, 'x') + "\r\na\r\n"), 0);
  EXPECT_EQ(status(post + "1;" + std::string(19, 'x') + "\r\na\r\n"), 400);
  EXPECT_EQ(status(post + "1;" + std::string(16, 'x') + "\r\na\r\n1;" + std::string(16, 'x') +
                   "\r\na\r\n"),
            400);
  EXPECT_EQ(status(post + "0\r\nA: " + std::string(60, 'x') + "\r\n\r\n"), 431);
}

TEST(HttpParser, keep_alive_follows_version_and_connection_field) {
  const auto kept = [](const std::string& bytes) {
    const HttpLimits limits;
    RequestParser parser(limits);
    Request request;
    parser.start(request);
    parser.feed(bytes);
    EXPECT_EQ(parser.state(), RequestParser::State::kDone);
    return parser.keep_alive();
  };
  EXPECT_TRUE(kept("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(kept("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(kept("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"));
  EXPECT_FALSE(kept("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(kept("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(HttpParser, a_body_leaves_room_behind_it_for_a_scanner) {
  const HttpLimits limits;
  for (const std::size_t size : {1U, 63U, 64U, 1000U, 3'000'000U}) {
    RequestParser parser(limits);
    Request request;
    parser.start(request);
    const std::string bytes =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
        std::string(size, 'x');
    std::string_view rest(bytes);
    while (!rest.empty()) rest.remove_prefix(parser.feed(rest.substr(0, 1000)));
    EXPECT_EQ(request.body.size(), size);
    EXPECT_GE(request.body.capacity(), size + 64);
  }
}

// --- responses

struct Answer {
  int status = 0;
  std::string headers;
  std::string body;
  bool done = false;
  bool failed = false;
  bool operator==(const Answer&) const = default;
};

Answer read_answer(const std::vector<std::string_view>& pieces, ResponseParser::Request request) {
  static const HttpLimits limits;
  ResponseParser parser(limits);
  parser.start(request);
  Answer out;
  const auto settle = [&] {
    out.status = parser.head_done() ? parser.status() : 0;
    out.done = parser.head_done() && parser.body().done();
    out.failed = parser.failure().has_value() || (parser.head_done() && parser.body().failed());
    if (parser.head_done()) {
      out.headers.clear();
      for (const auto field : parser.headers())
        out.headers += std::string(field.name) + "=" + std::string(field.value) + "\n";
    }
  };
  for (std::string_view piece : pieces) {
    while (!piece.empty() && !parser.failure() &&
           !(parser.head_done() && (parser.body().done() || parser.body().failed()))) {
      if (!parser.head_done()) {
        piece.remove_prefix(parser.feed_head(piece));
        continue;
      }
      const auto step = parser.body().next(piece);
      out.body += step.data;
      piece.remove_prefix(step.consumed);
    }
  }
  if (parser.head_done() && !parser.failure()) (void)parser.body().finish();
  settle();
  return out;
}

Answer answer_of(std::string_view bytes,
                 ResponseParser::Request request = ResponseParser::Request::kOther) {
  const Answer whole = read_answer({bytes}, request);
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    EXPECT_EQ(read_answer({bytes.substr(0, at), bytes.substr(at)}, request), whole)
        << "cut at " << at;
  }
  return whole;
}

TEST(HttpResponse, lengths_chunks_and_closing_end_a_body) {
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            (Answer{200, "Content-Length=5\n", "hello", true, false}));
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell").done, false);
  EXPECT_EQ(
      answer_of(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"),
      (Answer{200, "Transfer-Encoding=chunked\n", "hello", true, false}));
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\n").done,
            false);
  EXPECT_EQ(answer_of("HTTP/1.0 200 OK\r\n\r\nhello"), (Answer{200, "", "hello", true, false}));
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\n\r\nhello").body, "hello");
}

TEST(HttpResponse, some_answers_have_no_body_whatever_they_say) {
  EXPECT_TRUE(answer_of("HTTP/1.1 204 No Content\r\n\r\n").done);
  EXPECT_TRUE(answer_of("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n").done);
  EXPECT_TRUE(
      answer_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ResponseParser::Request::kHead)
          .done);
  EXPECT_TRUE(answer_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                        ResponseParser::Request::kHead)
                  .done);
}

TEST(HttpResponse, interim_answers_are_skipped) {
  const auto answer = answer_of(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 "
      "OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers, "Content-Length=0\n");
  EXPECT_TRUE(
      answer_of("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
          .failed);
}

TEST(HttpResponse, a_reason_may_be_missing_or_strange) {
  EXPECT_EQ(answer_of("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n").status, 200);
  EXPECT_EQ(answer_of("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").status, 200);
  EXPECT_EQ(answer_of("HTTP/1.1 599 what is this?\r\nContent-Length: 0\r\n\r\n").status, 599);
}

TEST(HttpResponse, doubtful_framing_is_an_error) {
  EXPECT_TRUE(
      answer_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n")
          .failed);
  EXPECT_TRUE(
      answer_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n").failed);
  EXPECT_TRUE(answer_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n").failed);
  EXPECT_TRUE(answer_of("HTTP/1.1 200 OK\nContent-Length: 5\n\n").failed);
  EXPECT_TRUE(answer_of("HTTP/2 200 OK\r\n\r\n").failed);
  EXPECT_TRUE(answer_of("ICY 200 OK\r\n\r\n").failed);
  EXPECT_TRUE(answer_of("HTTP/1.1 2000 OK\r\n\r\n").failed);
  EXPECT_TRUE(answer_of("HTTP/1.1 20 OK\r\n\r\n").failed);
}

TEST(HttpParser, random_damage_never_depends_on_the_cut) {
  base::SeededRandom random(11);
  const std::string seeds[] = {
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: "
      "u\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: "
      "a\r\n\r\n"};
  constexpr std::string_view kBytes = "\r\n\t :;0aG\x01\xff";
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = seeds[random.below(2)];
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      const std::size_t at = random.below(bytes.size());
      if (random.chance(500)) {
        bytes[at] = kBytes[random.below(kBytes.size())];
      } else if (random.chance(500)) {
        bytes.erase(at, 1);
      } else {
        bytes.insert(at, 1, kBytes[random.below(kBytes.size())]);
      }
    }
    SCOPED_TRACE(bytes);
    const Outcome whole = parse_whole(bytes);
    const std::size_t cut = random.below(bytes.size());
    const std::string_view view(bytes);
    EXPECT_EQ(parse({view.substr(0, cut), view.substr(cut)}, HttpLimits{}), whole);
  }
}

}  // namespace
}  // namespace verbatim::net
