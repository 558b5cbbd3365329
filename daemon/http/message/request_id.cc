#include "daemon/http/message/request_id.h"

#include <random>

namespace itemdb::http {
namespace {

constexpr char kCharacters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr uint64_t kBase = sizeof(kCharacters) - 1;
constexpr size_t kRequestIdBytes = 52;
// 64 random bits are enough for 12 characters.
constexpr size_t kCharactersPerDraw = 12;

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
    id[i] = kCharacters[bits % kBase];
    bits /= kBase;
  }
  return id;
}

}  // namespace itemdb::http
