#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::net {

// Header fields in the order they were sent, names compared without case (RFC 9110 5.1). One text
// block and one table of offsets: adding a field is two appends, parsing a message copies its head
// once. Views it gives out live until the next change.
class Headers {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  Headers& add(std::string_view name, std::string_view value);
  // Replaces every field of that name by one, at the place of the first.
  Headers& set(std::string_view name, std::string_view value);
  void remove(std::string_view name);
  // The first field of that name; nullptr data() where there is none.
  [[nodiscard]] std::string_view find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name).data() != nullptr; }
  [[nodiscard]] std::size_t count(std::string_view name) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] Field operator[](std::size_t i) const;
  // Keeps the memory for the next message.
  void clear();

  class Iterator {
   public:
    Iterator(const Headers* of, std::size_t at) : of_(of), at_(at) {}
    Field operator*() const { return (*of_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Headers* of_;
    std::size_t at_;
  };
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

 private:
  struct Entry {
    std::uint32_t name_at, name_size, value_at, value_size;
  };
  Entry append(std::string_view name, std::string_view value);
  std::string text_;
  std::vector<Entry> entries_;
};

// Bounds on one message from outside. A request over one of them is answered with the status named
// and the connection closed; a response over one of them is an error.
struct HttpLimits {
  std::size_t head_bytes = 64 * 1024;             // start line and header fields: 431
  std::size_t header_fields = 128;                // 431
  std::size_t target_bytes = 16 * 1024;           // 414
  std::size_t body_bytes = 64 * 1024 * 1024;      // 413
  std::size_t chunk_line_bytes = 1024;            // size and extensions of one chunk: 400
  std::size_t chunk_extension_bytes = 16 * 1024;  // all extensions of a message: 400
  std::size_t trailer_bytes = 16 * 1024;          // 431
};

// One request, whole. Filled by RequestParser. Not movable: the views point into it.
struct Request {
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  std::string_view method;  // "POST"
  std::string_view target;  // as sent: "/v1/models?a=b"
  std::string_view path;    // target without scheme, authority and query; not percent-decoded
  std::string_view query;   // behind the '?', without it
  int minor_version = 1;    // HTTP/1.<minor_version>
  Headers headers;
  // Has 64 bytes of capacity to spare: a SIMD scanner may read past the end without a copy.
  std::string body;
  std::string_view peer;  // "127.0.0.1:51234", for logs
  std::string head;       // what method and target point into
};

// A message that is refused: what to answer where it was a request.
struct HttpFailure {
  int status = 400;
  const char* code = "bad_request";  // machine word
  std::string message;
};

[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);
// "Not Found"; "" for unknown ones.
[[nodiscard]] std::string_view status_text(int status);
// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 5.6.7) of seconds since the Unix epoch.
[[nodiscard]] std::string http_date(std::int64_t unix_seconds);
// RFC 9110 5.6.2.
[[nodiscard]] bool is_token(std::string_view text);
// No control characters but tab: may stand in a header field's value.
[[nodiscard]] bool is_field_value(std::string_view text);

}  // namespace verbatim::net
