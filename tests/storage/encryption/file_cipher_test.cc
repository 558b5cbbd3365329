// FileCipher: the format of encrypted files, and that every byte can be decrypted alone.
#include "storage/encryption/file_cipher.h"

#include <random>
#include <set>

#include "gtest/gtest.h"
#include "storage/base/hex.h"

namespace itemdb::storage {
namespace {

EncryptionKey KeyOfBytesFrom(const std::string& id, int first) {
  EncryptionKey key{.id = id, .secret = ""};
  for (int i = 0; i < 32; ++i) key.secret += static_cast<char>(first + i);
  return key;
}

std::string Apply(const FileCipher& cipher, uint64_t offset, std::string bytes) {
  cipher.Apply(offset, bytes.data(), bytes.size(), bytes.data());
  return bytes;
}

// The header and the contents were computed by a program of its own, with Python's hmac and the command
// openssl enc. Files of this format must be readable for ever.
TEST(FileCipher, ReadsTheFormatThatIsDocumented) {
  std::string header = "itemdb encrypted" + std::string("\1\0\0\0", 4) + "key-1";
  header.resize(52);
  for (int i = 100; i < 132; ++i) header += static_cast<char>(i);
  header += FromHex("f477587834bcdd9ca75cb1bb114c9f8344d597e65a37eb457851ce0faaaa1d08");
  header.resize(FileCipher::kHeaderBytes);
  ASSERT_EQ(KeyIdOf(header), "key-1");
  const auto cipher = FileCipher::ForFile(KeyOfBytesFrom("key-1", 0), header);
  ASSERT_NE(cipher, nullptr);
  EXPECT_EQ(Apply(*cipher, 0,
                  FromHex("f0faf9a19885a920daa9a7f7bf15216b5d20b62212812b812133ac91ae767fa3"
                          "b52a47cd716012db7edd0bfd")),
            "The contents of a file, longer than a block.");
  EXPECT_EQ(CheckValueOf(KeyOfBytesFrom("any", 0)), "ee0bc3711457fb9cd123ede124a3582a");
  EXPECT_NE(CheckValueOf(KeyOfBytesFrom("any", 1)), "ee0bc3711457fb9cd123ede124a3582a");
}

TEST(FileCipher, DecryptsAnyPartAlone) {
  std::string header;
  const EncryptionKey key = KeyOfBytesFrom("key", 7);
  const auto cipher = FileCipher::ForNewFile(key, &header);
  std::mt19937 random(20261125);
  std::string contents(5'000, '\0');
  for (char& byte : contents) byte = static_cast<char>(random());
  const std::string encrypted = Apply(*cipher, 0, contents);
  const auto opened = FileCipher::ForFile(key, header);
  ASSERT_NE(opened, nullptr);
  for (int i = 0; i < 500; ++i) {
    const size_t begin = random() % contents.size();
    const size_t size = random() % (contents.size() - begin + 1);
    SCOPED_TRACE(::testing::Message() << begin << " " << size);
    ASSERT_EQ(Apply(*opened, begin, encrypted.substr(begin, size)), contents.substr(begin, size));
  }
}

// A counter that does not carry would use a keystream twice after 4 GiB of a file.
TEST(FileCipher, HasNoPartOfTheKeystreamTwice) {
  std::set<std::string> seen;
  for (int file = 0; file < 16; ++file) {
    std::string header;
    const auto cipher = FileCipher::ForNewFile(KeyOfBytesFrom("key", 0), &header);
    for (int power = 4; power < 63; ++power)
      EXPECT_TRUE(seen.insert(Apply(*cipher, uint64_t{1} << power, std::string(16, '\0'))).second);
    EXPECT_TRUE(seen.insert(Apply(*cipher, 0, std::string(16, '\0'))).second);
  }
}

TEST(FileCipher, TellsAnotherSecretAndADamagedHeader) {
  std::string header;
  const EncryptionKey key = KeyOfBytesFrom("key", 0);
  ASSERT_NE(FileCipher::ForNewFile(key, &header), nullptr);
  EXPECT_EQ(header.size(), FileCipher::kHeaderBytes);
  EXPECT_NE(FileCipher::ForFile(key, header), nullptr);
  EXPECT_EQ(FileCipher::ForFile(KeyOfBytesFrom("key", 1), header), nullptr);
  for (const size_t at : {20u, 52u, 83u, 84u, 115u}) {
    SCOPED_TRACE(at);
    std::string damaged = header;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_EQ(FileCipher::ForFile(key, damaged), nullptr);
  }
  EXPECT_EQ(KeyIdOf(header.substr(1)), std::nullopt);
  EXPECT_EQ(KeyIdOf(header.substr(0, 4'095)), std::nullopt);
  EXPECT_EQ(KeyIdOf(""), std::nullopt);
  std::string newer = header;
  newer[16] = 2;
  EXPECT_EQ(KeyIdOf(newer), std::nullopt);
}

}  // namespace
}  // namespace itemdb::storage
