#include "net/url.h"

#include <charconv>

#include "net/http_types.h"

namespace verbatim::net {
namespace {

base::Error bad(std::string_view text, const std::string& why) {
  return base::invalid("url", "\"" + std::string(text) + "\": " + why);
}

base::Result<std::uint16_t> parse_port(std::string_view text, std::string_view whole) {
  unsigned value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value == 0 || value > 65535) {
    return bad(whole, "the port \"" + std::string(text) + "\" is no number from 1 to 65535");
  }
  return static_cast<std::uint16_t>(value);
}

// "host", "host:1", "[::1]:1" -> host and the text behind the colon.
base::Result<std::pair<std::string_view, std::string_view>> split_authority(
    std::string_view authority, std::string_view whole) {
  if (authority.find('@') != std::string_view::npos)
    return bad(whole, "user and password in a URL are not supported");
  std::size_t colon = std::string_view::npos;
  std::string_view host = authority;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad(whole, "the \"[\" of the host has no \"]\"");
    host = authority.substr(1, close - 1);
    if (close + 1 < authority.size()) {
      if (authority[close + 1] != ':')
        return bad(whole, "only a port may follow the \"]\" of the host");
      colon = close + 1;
    }
  } else {
    colon = authority.find(':');
    host = authority.substr(0, colon);
  }
  if (host.empty()) return bad(whole, "the host is missing");
  for (const char c : host) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      return bad(whole, "the host holds a character that is not allowed there");
    }
  }
  return std::pair(host,
                   colon == std::string_view::npos ? std::string_view() : authority.substr(colon));
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

base::Result<Url> parse_url(std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return bad(text, "a URL starts with http:// or https://");
  const std::string_view scheme = text.substr(0, mark);
  Url url;
  url.endpoint.tls = equals_ignoring_case(scheme, "https");
  if (!url.endpoint.tls && !equals_ignoring_case(scheme, "http")) {
    return bad(text, "the scheme \"" + std::string(scheme) + "\" is not http or https");
  }
  const std::string_view rest = text.substr(mark + 3);
  if (rest.find_first_of("?#") != std::string_view::npos)
    return bad(text, "a query or fragment has no meaning here");
  const std::size_t slash = rest.find('/');
  auto parts = split_authority(rest.substr(0, slash), text);
  if (!parts.ok()) return std::move(parts).error();
  url.endpoint.host = std::string(parts->first);
  url.endpoint.port = url.endpoint.tls ? 443 : 80;
  if (!parts->second.empty()) {
    auto port = parse_port(parts->second.substr(1), text);
    if (!port.ok()) return std::move(port).error();
    url.endpoint.port = *port;
  }
  if (slash != std::string_view::npos) url.base_path = std::string(rest.substr(slash));
  while (!url.base_path.empty() && url.base_path.back() == '/') url.base_path.pop_back();
  for (const char c : url.base_path) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      return bad(text, "the path holds a character that must be percent-encoded");
    }
  }
  return url;
}

std::string host_field(const base::Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  std::string text = v6 ? "[" + endpoint.host + "]" : endpoint.host;
  if (endpoint.port != (endpoint.tls ? 443 : 80)) text += ":" + std::to_string(endpoint.port);
  return text;
}

std::string url_text(const Url& url) {
  return (url.endpoint.tls ? "https://" : "http://") + host_field(url.endpoint) + url.base_path;
}

base::Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return base::invalid("path", "a \"%\" is not followed by two hexadecimal digits");
    const char c = static_cast<char>(high * 16 + low);
    if (c == '\0') return base::invalid("path", "%00 is not allowed");
    out += c;
    i += 2;
  }
  return out;
}

}  // namespace verbatim::net
