#include "daemon/http/message/request_id.h"

#include <random>

namespace itemdb::http {
namespace {

// 32 of the 36 characters of the service's ids: each takes five bits, and no division.
constexpr char kCharacters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr int kBitsOfCharacter = 5;
static_assert(sizeof(kCharacters) - 1 == 1 << kBitsOfCharacter);
constexpr size_t kRequestIdBytes = 52;
constexpr size_t kCharactersPerDraw = 64 / kBitsOfCharacter;

// Ids must be unique but not secret, so the generator need not be a cryptographic one.
std::mt19937_64& Generator() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator;
}

}  // namespace

std::string NewRequestId() {
  std::string id(kRequestIdBytes, ' ');
  std::mt19937_64& generator = Generator();
  uint64_t bits = 0;
  for (size_t i = 0; i < id.size(); ++i) {
    if (i % kCharactersPerDraw == 0) bits = generator();
    id[i] = kCharacters[bits & ((1 << kBitsOfCharacter) - 1)];
    bits >>= kBitsOfCharacter;
  }
  return id;
}

}  // namespace itemdb::http
