#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace verbatim::cassette {

// Writes one YAML document (libyaml) that read_yaml() and any other reader of YAML reads back as it
// was: block style, strings of lines as literal blocks where those keep them, else in double
// quotes. Life: created, filled from begin_mapping() to its end_mapping(), take()n. Misuse is a
// bug. Keys are strings like others: in a mapping every second call is a key's.
class YamlWriter {
 public:
  YamlWriter();
  YamlWriter(const YamlWriter&) = delete;
  ~YamlWriter();

  void begin_mapping();
  void end_mapping();
  void begin_sequence();
  void end_sequence();
  void string(std::string_view text);
  // A number, boolean or null as JSON writes it.
  void literal(std::string_view text);
  // Any value of JSON.
  void value(const json::Value& value);

  // The text. Error: the library refused something (bytes that are no UTF-8).
  base::Result<std::string> take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim::cassette
