#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"

namespace verbatim::store::sqlite {

// Writes and reads the fields of a record, one behind the other. Both classes have the same
// methods, so that one list of fields (turn_codec.cc) serves both directions and they can't drift
// apart. Units:
//   number    LEB128: 7 bits a byte, low ones first, at most 10 bytes
//   signed    zigzag, then a number
//   choice    an enumerator as a number, at most `last`
//   text      its length, its bytes
//   maybe     a byte 0 or 1, then the value
//   list      its count, its elements
//   ids       their count, each a number
//   doubles   their count; where there are any, a byte 4 or 8, then each as a float or a double,
//   low
//             bytes first (4 where every one of them is a float exactly: no bit is lost)
class FieldWriter {
 public:
  template <class N>
  void number(const N& value) {
    std::uint64_t rest = value;
    for (; rest >= 0x80; rest >>= 7) byte(static_cast<std::uint8_t>(rest | 0x80));
    byte(static_cast<std::uint8_t>(rest));
  }
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void flag(bool value) { byte(value ? 1 : 0); }
  template <class E>
  void choice(E value, E /*last*/) {
    byte(static_cast<std::uint8_t>(value));
  }
  // Two enumerators in one byte.
  template <class E, class F>
  void choices(E low, E /*last*/, F high, F /*last*/) {
    byte(static_cast<std::uint8_t>(static_cast<unsigned>(low) | static_cast<unsigned>(high) << 4));
  }
  // A number whose greatest value, which stands for none, is written in one byte.
  void number_or_none(std::uint32_t value) { number(static_cast<std::uint32_t>(value + 1)); }
  void real(double value) { bits(std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void raw(const std::uint8_t* from, std::size_t size) {
    bytes_.append(reinterpret_cast<const char*>(from), size);
  }
  void ids(const base::TokenIds& ids) {
    number(ids.size());
    for (const auto id : ids) number(id);
  }
  void doubles(const std::vector<double>& values);
  template <class V, class F>
  void maybe(const std::optional<V>& value, F&& visit) {
    flag(value.has_value());
    if (value) visit(*value);
  }
  template <class V, class F>
  void list(const std::vector<V>& values, F&& visit) {
    number(values.size());
    for (const auto& value : values) visit(value);
  }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  template <class W>
  void bits(W word) {
    for (std::size_t i = 0; i < sizeof word; ++i) byte(static_cast<std::uint8_t>(word >> (8 * i)));
  }

  std::string bytes_;
};

// Total: any bytes are read to an end, good or bad, and what it makes of them is bounded by their
// number. Behind the first fault all reads give nothing; error() says what it was.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  template <class N>
  void number(N& value) {
    const std::uint64_t read = read_number();
    value = static_cast<N>(read);
    if (value != read) fail("a number that fits the field");
  }
  void signed_number(std::int64_t& value) {
    const std::uint64_t read = read_number();
    value = static_cast<std::int64_t>((read >> 1) ^ (~(read & 1) + 1));
  }
  void flag(bool& value) {
    const auto read = byte();
    if (read > 1) fail("a byte 0 or 1");
    value = read == 1;
  }
  template <class E>
  void choice(E& value, E last) {
    set(value, last, byte());
  }
  template <class E, class F>
  void choices(E& low, E last_low, F& high, F last_high) {
    const unsigned both = byte();
    set(low, last_low, both & 15);
    set(high, last_high, both >> 4);
  }
  void number_or_none(std::uint32_t& value) {
    number(value);
    --value;
  }
  void real(double& value) { value = std::bit_cast<double>(bits<std::uint64_t>()); }
  void text(std::string& value) { value = std::string(piece(count(1))); }
  void raw(std::uint8_t* to, std::size_t size) {
    const auto read = piece(size);
    if (!failed()) std::memcpy(to, read.data(), size);
  }
  void ids(base::TokenIds& ids) {
    ids.resize(count(1));
    for (auto& id : ids) number(id);
    if (failed()) ids.clear();
  }
  void doubles(std::vector<double>& values);
  template <class V, class F>
  void maybe(std::optional<V>& value, F&& visit) {
    bool there = false;
    flag(there);
    value.reset();
    if (there && !failed()) visit(value.emplace());
  }
  template <class V, class F>
  void list(std::vector<V>& values, F&& visit) {
    values.clear();
    for (auto left = count(1); left > 0 && !failed(); --left) visit(values.emplace_back());
  }

  // Nothing may follow the last field.
  void end() {
    if (!bytes_.empty()) fail("the end");
  }
  [[nodiscard]] bool failed() const { return !expected_.empty(); }
  [[nodiscard]] std::string error() const;

 private:
  void fail(const char* expected);
  std::uint8_t byte();
  std::string_view piece(std::size_t size);
  std::uint64_t read_number();
  // A count of things that take at least `each` bytes.
  std::size_t count(std::size_t each);
  template <class E>
  void set(E& value, E last, unsigned read) {
    if (read > static_cast<unsigned>(last)) {
      fail("an enumerator of the field");
      return;
    }
    value = static_cast<E>(read);
  }
  template <class W>
  W bits() {
    const auto read = piece(sizeof(W));
    W word = 0;
    if (read.size() != sizeof word) return word;
    for (std::size_t i = 0; i < sizeof word; ++i)
      word = static_cast<W>(word | W{static_cast<std::uint8_t>(read[i])} << (8 * i));
    return word;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t failed_at_ = 0;
  std::string expected_;
};

}  // namespace verbatim::store::sqlite
