#include "tokenizer/cache.h"

#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/sim/sim_files.h"
#include "tokenizer/image_layout.h"
#include "tokenizer/testing/toy.h"

namespace verbatim::tokenizer {
namespace {

constexpr std::string_view kText = "hello, hell <|im_start|>user\nwörld 123<|im_end|>";
const LoadOptions kCached{.cache_dir = "cache"};

class Cache : public ::testing::Test {
 protected:
  Cache() {
    EXPECT_TRUE(files_.make_directories("model").ok());
    const auto disk = base::system_files();
    EXPECT_TRUE(files_
                    .replace("model/tokenizer.json",
                             disk->read("tests/cases/toy/tokenizer.json", 1 << 20).value())
                    .ok());
    expected_ = testing::encoded(*Tokenizer::load(files_, "model", kCached).value(), kText);
    path_ = "cache/" + files_.list("cache").value().at(0);
    good_ = files_.read(path_, 1 << 24).value();
  }

  // Loads with these bytes as the cache file, and expects the same ids and a repaired file.
  void expect_repaired(const std::string& bytes) {
    ASSERT_TRUE(files_.replace(path_, bytes).ok());
    const auto tokenizer = Tokenizer::load(files_, "model", kCached);
    ASSERT_TRUE(tokenizer.ok());
    ASSERT_EQ(testing::encoded(**tokenizer, kText), expected_);
    ASSERT_EQ(files_.read(path_, 1 << 24).value(), good_);
  }

  // The bytes with a checksum that fits them.
  static std::string sealed(std::string bytes) {
    layout::Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.checksum =
        layout::checksum_of(header, std::as_bytes(std::span(bytes)).subspan(sizeof header));
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }

  base::sim::SimFiles files_{1};
  TokenIds expected_;
  std::string path_;
  std::string good_;
};

TEST_F(Cache, a_tokenizer_from_the_cache_is_the_same) {
  const auto plain = Tokenizer::load(files_, "model").value();
  const auto cached = Tokenizer::load(files_, "model", kCached).value();
  ASSERT_EQ(cached->vocab_size(), plain->vocab_size());
  EXPECT_EQ(cached->fingerprint(), plain->fingerprint());
  ASSERT_EQ(cached->added_tokens().size(), plain->added_tokens().size());
  for (std::size_t i = 0; i < plain->added_tokens().size(); ++i) {
    EXPECT_EQ(cached->added_tokens()[i].content, plain->added_tokens()[i].content);
    EXPECT_EQ(cached->added_tokens()[i].special, plain->added_tokens()[i].special);
  }
  for (TokenId id = 0; id < plain->vocab_size(); ++id)
    EXPECT_EQ(cached->bytes(id), plain->bytes(id));
  EXPECT_EQ(testing::encoded(*cached, kText), expected_);
}

TEST_F(Cache, a_truncated_file_is_written_anew) {
  for (std::size_t size = 0; size < good_.size(); size += size < 700 ? 61 : 9973)
    expect_repaired(good_.substr(0, size));
  expect_repaired(good_ + std::string(64, '\0'));
}

TEST_F(Cache, every_flipped_bit_of_the_header_and_many_behind_it_are_noticed) {
  base::SeededRandom random(7);
  for (std::size_t bit = 0; bit < 3000; ++bit) {
    const std::size_t at = bit < sizeof(layout::Header) * 8 ? bit : random.below(good_.size() * 8);
    std::string bytes = good_;
    bytes[at / 8] = static_cast<char>(bytes[at / 8] ^ 1 << at % 8);
    ASSERT_TRUE(files_.replace(path_, bytes).ok());
    EXPECT_EQ(ImageCache(files_, "cache").find(Fingerprint{}), nullptr);
    auto file = files_.map(path_);
    ASSERT_FALSE(Image::open(*std::move(file)).ok()) << "bit " << at;
  }
  expect_repaired(good_.substr(0, good_.size() - 64));
}

TEST_F(Cache, the_image_of_another_file_is_not_used) {
  std::string other = good_;
  layout::Header header;
  std::memcpy(&header, other.data(), sizeof header);
  header.source[0] = header.source[0] == '0' ? '1' : '0';
  std::memcpy(other.data(), &header, sizeof header);
  expect_repaired(sealed(other));
}

// Bytes that somebody made up, with a checksum that fits: refused, or harmless.
TEST_F(Cache, hostile_images_can_t_make_reads_out_of_bounds) {
  const std::uint64_t seed = 11;
  RecordProperty("seed", std::to_string(seed));
  base::SeededRandom random(seed);
  std::size_t opened = 0;
  for (int n = 0; n < 3000; ++n) {
    std::string bytes = good_;
    for (std::uint64_t k = random.below(4) + 1; k > 0; --k) {
      const std::size_t at =
          (n % 3 == 0 ? random.below(sizeof(layout::Header)) : random.below(bytes.size())) & ~7ULL;
      const std::uint64_t values[] = {random.next(), random.below(1 << 20), ~std::uint64_t{0}, 0,
                                      1ULL << random.below(64)};
      std::memcpy(bytes.data() + at, &values[random.below(5)], 8);
    }
    ASSERT_TRUE(files_.replace(path_, sealed(bytes)).ok());
    auto image = Image::open(files_.map(path_).value());
    if (!image.ok()) continue;
    ++opened;
    // Whatever it gives, it gives it without touching memory that isn't its own (the sanitizers
    // watch).
    ASSERT_TRUE(files_.replace(path_, sealed(bytes)).ok());
    const auto tokenizer = Tokenizer::load(files_, "model", kCached);
    ASSERT_TRUE(tokenizer.ok());
    std::vector<std::uint32_t> begins;
    TokenIds ids;
    (*tokenizer)->encode(kText, {}, ids, &begins);
    EXPECT_EQ(ids.size(), begins.size());
    static_cast<void>((*tokenizer)->decode(ids));
  }
  EXPECT_GT(opened, 100U);
}

TEST_F(Cache, a_folder_that_can_t_be_written_is_no_failure) {
  ASSERT_TRUE(files_.remove(path_).ok());
  files_.options().fail_replace = 1000;
  const auto tokenizer = Tokenizer::load(files_, "model", kCached);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(testing::encoded(**tokenizer, kText), expected_);
}

TEST(CacheOnDisk, two_writers_at_once_leave_one_whole_file) {
  const auto files = base::system_files();
  const std::string folder = ::testing::TempDir() + "verbatim-cache-test";
  for (int round = 0; round < 20; ++round) {
    const auto load = [&] {
      EXPECT_TRUE(Tokenizer::load(*files, "tests/cases/toy", {.cache_dir = folder}).ok());
    };
    std::thread other(load);
    load();
    other.join();
    const auto names = files->list(folder).value();
    ASSERT_EQ(names.size(), 1U);
    EXPECT_TRUE(Image::open(files->map(folder + "/" + names[0]).value()).ok());
    EXPECT_TRUE(files->remove(folder + "/" + names[0]).ok());
  }
}

}  // namespace
}  // namespace verbatim::tokenizer
