#include "storage/buckets/object_digests.h"

#include <openssl/evp.h>

#include <utility>

#include "storage/base/check.h"

namespace itemdb::storage {
namespace {

std::string FinishDigest(EVP_MD_CTX* context) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ITEMDB_CHECK(EVP_DigestFinal_ex(context, digest, &size) == 1);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

}  // namespace

struct ObjectDigests::Contexts {
  EVP_MD_CTX* const md5 = EVP_MD_CTX_new();
  EVP_MD_CTX* const sha256 = EVP_MD_CTX_new();

  Contexts() {
    ITEMDB_CHECK(md5 != nullptr && sha256 != nullptr);
    ITEMDB_CHECK(EVP_DigestInit_ex(md5, EVP_md5(), nullptr) == 1);
    ITEMDB_CHECK(EVP_DigestInit_ex(sha256, EVP_sha256(), nullptr) == 1);
  }
  ~Contexts() {
    EVP_MD_CTX_free(md5);
    EVP_MD_CTX_free(sha256);
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
};

ObjectDigests::ObjectDigests() : contexts_(std::make_unique<Contexts>()) {}
ObjectDigests::~ObjectDigests() = default;

void ObjectDigests::Add(std::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  ITEMDB_CHECK(EVP_DigestUpdate(contexts_->md5, bytes.data(), bytes.size()) == 1);
  ITEMDB_CHECK(EVP_DigestUpdate(contexts_->sha256, bytes.data(), bytes.size()) == 1);
}

WrittenObject ObjectDigests::Finish(std::string key) {
  return {.key = std::move(key),
          .bytes = bytes_,
          .md5 = FinishDigest(contexts_->md5),
          .sha256 = FinishDigest(contexts_->sha256)};
}

}  // namespace itemdb::storage
