// Runs the tokenizer on requests from stdin, for check_tokenizer.py.
//   tokenizer_oracle_tool MODEL_DIR [--cache DIR]
// Numbers are 32 bits, little endian. A request is an operation (one byte), a count, that many
// numbers, a size, that many bytes:
//   e  text                       -> ids of the text
//   b  text                       -> ids, then as many begins
//   k  numbers = control ids      -> their count; sets what `c` uses
//   l  template literals          -> ids that count as control tokens by default
//   c  text, numbers = ranges     -> ids with these ranges (begin, end, ...) written by a caller
//   d  numbers = ids              -> text, decoded at once
//   i  numbers = ids              -> text, decoded one by one; each chunk is followed by a byte
//   0xFF n  text                       -> NFC of the text u                             -> class
//   bits of all code points
// An answer is a count and that many numbers or bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "tokenizer/control_tokens.h"
#include "tokenizer/nfc.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/unicode.h"

namespace {

using namespace verbatim::tokenizer;

bool read_all(void* to, std::size_t size) {
  return size == 0 || std::fread(to, 1, size, stdin) == size;
}

void write_numbers(const std::vector<std::uint32_t>& numbers) {
  const auto count = static_cast<std::uint32_t>(numbers.size());
  std::fwrite(&count, sizeof count, 1, stdout);
  std::fwrite(numbers.data(), sizeof(std::uint32_t), numbers.size(), stdout);
}

void write_bytes(std::string_view bytes) {
  const auto count = static_cast<std::uint32_t>(bytes.size());
  std::fwrite(&count, sizeof count, 1, stdout);
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

struct Request {
  char operation = 0;
  std::vector<std::uint32_t> numbers;
  std::string text;
};

bool read_request(Request& request) {
  std::uint32_t count = 0;
  std::uint32_t size = 0;
  if (!read_all(&request.operation, 1) || !read_all(&count, sizeof count)) return false;
  request.numbers.resize(count);
  if (!read_all(request.numbers.data(), count * sizeof(std::uint32_t)) ||
      !read_all(&size, sizeof size))
    return false;
  request.text.resize(size);
  return read_all(request.text.data(), size);
}

std::string decode_one_by_one(const Tokenizer& tokenizer, const std::vector<std::uint32_t>& ids) {
  IncrementalDecoder decoder(tokenizer);
  std::string out;
  for (const auto id : ids) {
    decoder.feed(id, out);
    out.push_back('\xFF');
  }
  decoder.finish(out);
  return out;
}

class Server {
 public:
  explicit Server(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void answer(const Request& request) {
    TokenIds ids;
    switch (request.operation) {
      case 'e':
        tokenizer_.encode(request.text, ids);
        return write_numbers(ids);
      case 'b': {
        std::vector<std::uint32_t> begins;
        tokenizer_.encode(request.text, {}, ids, &begins);
        write_numbers(ids);
        return write_numbers(begins);
      }
      case 'c': {
        std::vector<ByteRange> ranges;
        for (std::size_t i = 0; i + 1 < request.numbers.size(); i += 2) {
          ranges.push_back({request.numbers[i], request.numbers[i + 1]});
        }
        tokenizer_.encode(request.text, CallerText(ranges, control_.get()), ids, nullptr);
        return write_numbers(ids);
      }
      case 't':
        return time_passes(request);
      case 'k':
        return set_control(request.numbers);
      case 'l':
        return write_numbers(tokenizer_.default_control_tokens(request.text));
      default:
        return answer_text(request);
    }
  }

 private:
  void set_control(const std::vector<std::uint32_t>& ids) {
    auto control = tokenizer_.control_tokens(ids);
    if (!control) {
      std::fprintf(stderr, "%s\n", control.error().message.c_str());
      std::exit(1);
    }
    control_ = *std::move(control);
    write_numbers({static_cast<std::uint32_t>(ids.size())});
  }

  void time_passes(const Request& request) {
    const auto pieces = cut(request.text, request.numbers.at(0));
    std::vector<std::uint32_t> out;
    std::size_t count = 0;
    for (std::uint32_t pass = 0; pass < request.numbers.at(1); ++pass) {
      const std::clock_t before = std::clock();
      count = 0;
      for (const auto piece : pieces) {
        TokenIds ids;
        tokenizer_.encode(piece, ids);
        count += ids.size();
      }
      out.push_back(static_cast<std::uint32_t>(std::clock() - before));
    }
    out.push_back(static_cast<std::uint32_t>(count));
    write_numbers(out);
  }

  static std::vector<std::string_view> cut(std::string_view text, std::size_t size) {
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
      std::size_t end = std::min(size, text.size());
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      pieces.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return pieces;
  }

  void answer_text(const Request& request) const {
    switch (request.operation) {
      case 'd':
        return write_bytes(tokenizer_.decode(request.numbers));
      case 'i':
        return write_bytes(decode_one_by_one(tokenizer_, request.numbers));
      case 'n': {
        Normalized out;
        normalize_nfc(request.text, out);
        return write_bytes(out.text);
      }
      case 'u': {
        std::string classes;
        for (char32_t c = 0; c < 0x110000; ++c) classes.push_back(static_cast<char>(classes_of(c)));
        return write_bytes(classes);
      }
      default:
        std::fprintf(stderr, "unknown operation %c\n", request.operation);
        std::exit(1);
    }
  }

  const Tokenizer& tokenizer_;
  std::shared_ptr<const ControlTokens> control_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && !(argc == 4 && std::strcmp(argv[2], "--cache") == 0)) {
    std::fprintf(stderr, "usage: tokenizer_oracle_tool MODEL_DIR [--cache DIR]\n");
    return 2;
  }
  const auto files = verbatim::base::system_files();
  auto tokenizer = Tokenizer::load(*files, argv[1], {.cache_dir = argc == 4 ? argv[3] : ""});
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  Server server(**tokenizer);
  Request request;
  while (read_request(request)) {
    server.answer(request);
    std::fflush(stdout);
  }
  return 0;
}
