#include "base/random.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <utility>

#include <openssl/rand.h>

namespace verbatim::base {

std::uint64_t Random::below(std::uint64_t bound) {
  // Lemire's multiply-shift with rejection: unbiased.
  for (;;) {
    const auto wide = static_cast<unsigned __int128>(next()) * bound;
    const auto low = static_cast<std::uint64_t>(wide);
    if (low >= bound || low >= -bound % bound) return static_cast<std::uint64_t>(wide >> 64);
  }
}

SeededRandom::SeededRandom(std::uint64_t seed) {
  // splitmix64 spreads the seed over the state, as the authors of xoshiro advise.
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31);
  }
}

std::uint64_t SeededRandom::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

namespace {
// Asks libcrypto for a block at a time: a call costs about a microsecond, and a turn draws dozens.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override {
    if (used_ == block_.size()) refill();
    return std::exchange(block_[used_++], 0);
  }

 private:
  void refill() {
    // Fails only when the operating system has no entropy source: nothing sensible can go on then.
    auto* bytes = reinterpret_cast<unsigned char*>(block_.data());
    if (RAND_bytes(bytes, sizeof block_) != 1) std::abort();
    used_ = 0;
  }

  std::array<std::uint64_t, 64> block_{};
  std::size_t used_ = block_.size();
};
}  // namespace

std::unique_ptr<Random> system_random() {
  return std::make_unique<SystemRandom>();
}

std::string new_hex_id(Random& random) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = random.next();
    for (int i = 0; i < 16; ++i, bits >>= 4) id += kDigits[bits & 15];
  }
  return id;
}

std::string new_base62_id(Random& random, unsigned length) {
  static constexpr char kDigits[] =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  // A draw for each ten letters: sixty of its bits.
  constexpr unsigned kLettersOfDraw = 10;
  constexpr std::uint64_t kDraw = 839'299'365'868'340'224;  // 62^10
  std::string id;
  id.reserve(length);
  std::uint64_t draw = 0;
  for (unsigned i = 0; i < length; ++i, draw /= 62) {
    if (i % kLettersOfDraw == 0) draw = random.below(kDraw);
    id += kDigits[draw % 62];
  }
  return id;
}

}  // namespace verbatim::base
