// The part of the protobuf wire format that items need: appending fields to a string and walking over encoded
// fields without building objects.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace itemdb::wire {

inline constexpr uint32_t kVarint = 0;
inline constexpr uint32_t kLengthDelimited = 2;

constexpr uint32_t Tag(uint32_t field, uint32_t wire_type) { return field << 3 | wire_type; }

// std::string::push_back is a call of a function, so bytes are written in a string that has grown at once.
inline char* GrowBy(size_t bytes, std::string* out) {
  const size_t size = out->size();
  out->resize(size + bytes);
  return out->data() + size;
}

// Writes a varint and returns the place behind it.
inline char* WriteVarint(uint64_t value, char* to) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

inline size_t VarintSize(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

inline void AppendVarint(uint64_t value, std::string* out) {
  WriteVarint(value, GrowBy(VarintSize(value), out));
}

// The size of a string, bytes or message field.
inline size_t BytesFieldSize(uint32_t field, size_t bytes) {
  return VarintSize(Tag(field, kLengthDelimited)) + VarintSize(bytes) + bytes;
}

// Writes a string, bytes or message field and returns the place behind it.
inline char* WriteBytesField(uint32_t field, std::string_view bytes, char* to) {
  to = WriteVarint(bytes.size(), WriteVarint(Tag(field, kLengthDelimited), to));
  return std::copy(bytes.begin(), bytes.end(), to);
}

// Appends a string, bytes or message field.
inline void AppendBytesField(uint32_t field, std::string_view bytes, std::string* out) {
  WriteBytesField(field, bytes, GrowBy(BytesFieldSize(field, bytes.size()), out));
}

inline void AppendVarintField(uint32_t field, uint64_t value, std::string* out) {
  const uint64_t tag = Tag(field, kVarint);
  WriteVarint(value, WriteVarint(tag, GrowBy(VarintSize(tag) + VarintSize(value), out)));
}

// Consumes a varint from the front of `*in`. False when it is cut off or longer than 64 bits.
inline bool ConsumeVarint(std::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < in->size() && i < 10; ++i) {
    uint8_t byte = static_cast<uint8_t>((*in)[i]);
    if (i == 9 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

// One field of an encoded message.
struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  // The value of a varint field.
  uint64_t varint = 0;
  // The contents of a length-delimited field; borrows from the input.
  std::string_view bytes;
};

// Consumes one field from the front of `*in`. False when it is cut off, its number is 0, or its wire type is
// neither varint nor length-delimited (the item messages use no other).
inline bool ConsumeField(std::string_view* in, Field* field) {
  uint64_t tag;
  if (!ConsumeVarint(in, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  field->number = static_cast<uint32_t>(tag >> 3);
  field->wire_type = static_cast<uint32_t>(tag & 7);
  if (field->wire_type == kVarint) return ConsumeVarint(in, &field->varint);
  if (field->wire_type != kLengthDelimited) return false;
  uint64_t size;
  if (!ConsumeVarint(in, &size) || size > in->size()) return false;
  field->bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

// ConsumeContents() of a field of 128 bytes or more, or at the end. Not inline, so that the other case is.
[[gnu::noinline]] inline bool ConsumeLongContents(std::string_view* in, std::string_view* contents) {
  Field field;
  if (in->empty() || !ConsumeField(in, &field)) return false;
  *contents = field.bytes;
  return true;
}

// Consumes one length-delimited field of canonical bytes from the front of `*in` and returns its contents.
// False at the end of `*in` and when the field is cut off. Most reads spend their time in walks over items,
// so this is inline and does not check the one-byte tag.
inline bool ConsumeContents(std::string_view* in, std::string_view* contents) {
  if (in->size() >= 2) {
    const size_t size = static_cast<uint8_t>((*in)[1]);
    if (size < 0x80 && size <= in->size() - 2) {
      *contents = std::string_view(in->data() + 2, size);
      in->remove_prefix(2 + size);
      return true;
    }
  }
  return ConsumeLongContents(in, contents);
}

}  // namespace itemdb::wire
