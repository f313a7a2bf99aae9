#include "store/sqlite/fields.h"

#include <algorithm>

namespace verbatim::store::sqlite {
namespace {

constexpr std::uint64_t kFloats = 4;
constexpr std::uint64_t kDoubles = 8;

bool is_float(double value) {
  const auto there_and_back = static_cast<double>(static_cast<float>(value));
  // By their bits: -0.0 and NaN are to come back as they were.
  return std::bit_cast<std::uint64_t>(there_and_back) == std::bit_cast<std::uint64_t>(value);
}

}  // namespace

void FieldWriter::doubles(const std::vector<double>& values) {
  number(values.size());
  if (values.empty()) return;
  const bool floats = std::all_of(values.begin(), values.end(), is_float);
  number(floats ? kFloats : kDoubles);
  for (const double value : values)
    floats ? bits(std::bit_cast<std::uint32_t>(static_cast<float>(value))) : real(value);
}

void FieldReader::doubles(std::vector<double>& values) {
  const auto many = count(sizeof(float));
  values.clear();
  if (many == 0) return;
  const auto width = read_number();
  if (width != kFloats && width != kDoubles) fail("a width of 4 or 8 bytes");
  if (failed()) return;
  if (many > bytes_.size() / width) fail("as many numbers as are counted");
  if (failed()) return;
  values.resize(many);
  for (double& value : values) {
    if (width == kDoubles)
      real(value);
    else
      value = static_cast<double>(std::bit_cast<float>(bits<std::uint32_t>()));
  }
}

void FieldReader::fail(const char* expected) {
  if (failed()) return;
  expected_ = expected;
  failed_at_ = at_;
  bytes_ = {};
}

std::string FieldReader::error() const {
  return "at byte " + std::to_string(failed_at_) + ": expected " + expected_;
}

std::uint8_t FieldReader::byte() {
  const auto read = piece(1);
  return read.empty() ? 0 : static_cast<std::uint8_t>(read[0]);
}

std::string_view FieldReader::piece(std::size_t size) {
  if (size > bytes_.size()) fail("more bytes");
  if (failed()) return {};
  const auto read = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  at_ += size;
  return read;
}

std::uint64_t FieldReader::read_number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t read = byte();
    value |= (read & 0x7f) << shift;
    if (shift == 63 && read > 1) break;
    if (read < 0x80) return value;
  }
  fail("a number of at most 64 bits");
  return 0;
}

std::size_t FieldReader::count(std::size_t each) {
  const auto read = read_number();
  if (read <= bytes_.size() / each) return static_cast<std::size_t>(read);
  fail("no more than the bytes that follow");
  return 0;
}

}  // namespace verbatim::store::sqlite
