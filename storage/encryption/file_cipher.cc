#include "storage/encryption/file_cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "storage/base/check.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kMagic = "itemdb encrypted";
constexpr std::string_view kVersion("\1\0\0\0", 4);
constexpr size_t kKeyIdAt = kMagic.size() + kVersion.size();
constexpr size_t kSaltAt = kKeyIdAt + kMaxEncryptionKeyIdBytes;
constexpr size_t kSaltBytes = 32;
constexpr size_t kMacAt = kSaltAt + kSaltBytes;
constexpr size_t kMacBytes = 32;
constexpr size_t kCounterBytes = 16;
// OpenSSL counts bytes in ints.
constexpr size_t kMaxBytesAtOnce = 1 << 30;

struct FreeKdf {
  void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
};
struct FreeKdfContext {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};
struct FreeCipher {
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
};
struct FreeCipherContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// HKDF-SHA256 (RFC 5869).
void DeriveBytes(std::string secret, std::string salt, std::string info, unsigned char* bytes, size_t size) {
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const std::unique_ptr<EVP_KDF_CTX, FreeKdfContext> context(EVP_KDF_CTX_new(kdf.get()));
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt.data(), salt.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end(),
  };
  ITEMDB_CHECK(context != nullptr && EVP_KDF_derive(context.get(), bytes, size, parameters) == 1);
  OPENSSL_cleanse(secret.data(), secret.size());
}

// OpenSSL does not clean up at exit, which would be before RocksDB's threads end: they still use it, and what
// it keeps for each thread would not be freed. It must be told before anything else uses it.
[[maybe_unused]] const int kKeepsOpenSsl = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

// Looking a cipher up takes longer than encrypting a block with it.
const EVP_CIPHER* Aes256Ctr() {
  static const std::unique_ptr<EVP_CIPHER, FreeCipher> cipher(
      EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr));
  return cipher.get();
}

EVP_CIPHER_CTX* ContextOfThread() {
  thread_local const std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext> context(EVP_CIPHER_CTX_new());
  return context.get();
}

// Adds to a number of 128 bits, big-endian.
void AddToCounter(uint64_t blocks, unsigned char* counter) {
  uint64_t carry = 0;
  for (int i = kCounterBytes - 1; i >= 0; --i) {
    const uint64_t sum = counter[i] + (blocks & 0xff) + carry;
    counter[i] = static_cast<unsigned char>(sum);
    carry = sum >> 8;
    blocks >>= 8;
  }
}

}  // namespace

std::unique_ptr<FileCipher> FileCipher::ForNewFile(const EncryptionKey& key, std::string* header) {
  *header = std::string(kMagic).append(kVersion).append(key.id);
  header->resize(kSaltAt);
  header->resize(kHeaderBytes);
  if (RAND_bytes(reinterpret_cast<unsigned char*>(header->data() + kSaltAt), kSaltBytes) != 1) return nullptr;
  std::unique_ptr<FileCipher> cipher(new FileCipher());
  const std::array<char, kMacBytes> mac = cipher->Derive(key, *header);
  std::copy(mac.begin(), mac.end(), header->begin() + kMacAt);
  return cipher;
}

std::unique_ptr<FileCipher> FileCipher::ForFile(const EncryptionKey& key, std::string_view header) {
  std::unique_ptr<FileCipher> cipher(new FileCipher());
  const std::array<char, kMacBytes> mac = cipher->Derive(key, header);
  return CRYPTO_memcmp(mac.data(), header.data() + kMacAt, mac.size()) == 0 ? std::move(cipher) : nullptr;
}

FileCipher::~FileCipher() { OPENSSL_cleanse(key_.data(), key_.size()); }

std::array<char, 32> FileCipher::Derive(const EncryptionKey& key, std::string_view header) {
  std::array<unsigned char, 32 + kCounterBytes + 32> derived;
  DeriveBytes(key.secret, std::string(header.substr(kSaltAt, kSaltBytes)), "itemdb file 1", derived.data(),
              derived.size());
  std::copy_n(derived.begin(), key_.size(), key_.begin());
  std::copy_n(derived.begin() + key_.size(), first_counter_.size(), first_counter_.begin());
  std::array<char, kMacBytes> mac;
  unsigned int size = 0;
  ITEMDB_CHECK(HMAC(EVP_sha256(), derived.data() + key_.size() + kCounterBytes, 32,
                    reinterpret_cast<const unsigned char*>(header.data()), kMacAt,
                    reinterpret_cast<unsigned char*>(mac.data()), &size) != nullptr &&
               size == mac.size());
  OPENSSL_cleanse(derived.data(), derived.size());
  return mac;
}

void FileCipher::Apply(uint64_t offset, const char* from, size_t size, char* to) const {
  if (size == 0) return;
  std::array<unsigned char, kCounterBytes> counter = first_counter_;
  AddToCounter(offset / kCounterBytes, counter.data());
  EVP_CIPHER_CTX* const context = ContextOfThread();
  int written = 0;
  ITEMDB_CHECK(context != nullptr &&
               EVP_EncryptInit_ex2(context, Aes256Ctr(), key_.data(), counter.data(), nullptr) == 1);
  if (const int skipped = static_cast<int>(offset % kCounterBytes); skipped > 0) {
    unsigned char unused[kCounterBytes] = {};
    ITEMDB_CHECK(EVP_EncryptUpdate(context, unused, &written, unused, skipped) == 1);
  }
  while (size > 0) {
    const int part = static_cast<int>(std::min(size, kMaxBytesAtOnce));
    ITEMDB_CHECK(EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(to), &written,
                                   reinterpret_cast<const unsigned char*>(from), part) == 1 &&
                 written == part);
    from += part;
    to += part;
    size -= static_cast<size_t>(part);
  }
}

std::optional<std::string> KeyIdOf(std::string_view header) {
  if (header.size() < FileCipher::kHeaderBytes || !header.starts_with(kMagic) ||
      header.substr(kMagic.size(), kVersion.size()) != kVersion)
    return std::nullopt;
  const std::string_view id = header.substr(kKeyIdAt, kMaxEncryptionKeyIdBytes);
  return std::string(id.substr(0, id.find('\0')));
}

std::string CheckValueOf(const EncryptionKey& key) {
  std::array<unsigned char, 16> value;
  DeriveBytes(key.secret, "", "itemdb check of a key 1", value.data(), value.size());
  return absl::BytesToHexString(std::string(reinterpret_cast<const char*>(value.data()), value.size()));
}

}  // namespace itemdb::storage
