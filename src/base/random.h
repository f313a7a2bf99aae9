#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace verbatim::base {

// Source of random bits. Not thread-safe: one per executor. Its real form is the operating system's
// generator, the simulated twin is seeded.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // True in `permille` of a thousand draws.
  bool chance(unsigned permille) { return below(1000) < permille; }
};

// Seeded and reproducible (xoshiro256**, Blackman and Vigna 2018). Not thread-safe.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed);
  std::uint64_t next() override;

 private:
  std::uint64_t state_[4];
};

// The operating system's generator.
std::unique_ptr<Random> system_random();

// 32 hex digits.
std::string new_hex_id(Random& random);
// `length` characters of [0-9A-Za-z].
std::string new_base62_id(Random& random, unsigned length);

}  // namespace verbatim::base
