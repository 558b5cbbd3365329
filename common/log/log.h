// Log lines of words and fields:
//
//   log->info("table deleted table={} items={}", name, items);     table deleted table=Order items=12
//   log->warn("backup failed error={}", status.message());         backup failed error="no space left: a=1"
//
// What is a field, the text between the quotes of the source alone says: a value that holds blanks, quotes or
// '=', such as a path or an error, is put into quotes, and control characters are escaped. So a name that a
// client chose can add neither fields nor lines. LogLine takes a line apart again.
#pragma once

#include <spdlog/logger.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::common {

// `text` with its control characters as \n or \x1b.
std::string OneLine(std::string_view text);

// A line, taken apart.
struct LogLine {
  std::string words;
  std::vector<std::pair<std::string, std::string>> fields;
};
LogLine ParseLogLine(std::string_view line);

namespace log_internal {

// A replacement field of a format string, such as "{:.1f}", with what stands before it.
struct FormatPiece {
  std::string_view before = {};
  std::string_view placeholder = {};
  // The placeholder is the value of a field, not among the words.
  bool is_field_value = false;
};
// `count` pieces, and what stands after the last one, without a placeholder.
std::vector<FormatPiece> TakeApart(std::string_view format, size_t count);
std::string Join(const std::vector<FormatPiece>& pieces, const std::string* values);

}  // namespace log_internal

// A spdlog::logger that gets such lines. As a pointer to it, it may be null. Thread-safe.
class Log {
 public:
  Log() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a logger is given wherever a log is wanted.
  Log(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Log(std::nullptr_t) {}

  explicit operator bool() const { return logger_ != nullptr; }
  bool operator==(std::nullptr_t) const { return logger_ == nullptr; }
  const Log* operator->() const { return this; }
  const Log& operator*() const { return *this; }
  const std::shared_ptr<spdlog::logger>& logger() const { return logger_; }

  template <typename... Values>
  void log(spdlog::level::level_enum level, spdlog::format_string_t<Values...> format,
           const Values&... values) const {
    if (!logger_->should_log(level)) return;
    const spdlog::string_view_t text = format;
    const auto pieces = log_internal::TakeApart({text.data(), text.size()}, sizeof...(Values));
    size_t next = 0;
    const std::array<std::string, sizeof...(Values)> texts{OneText(pieces[next++].placeholder, values)...};
    logger_->log(level, spdlog::string_view_t(log_internal::Join(pieces, texts.data())));
  }
  template <typename... Values>
  void debug(spdlog::format_string_t<Values...> format, const Values&... values) const {
    log(spdlog::level::debug, format, values...);
  }
  template <typename... Values>
  void info(spdlog::format_string_t<Values...> format, const Values&... values) const {
    log(spdlog::level::info, format, values...);
  }
  template <typename... Values>
  void warn(spdlog::format_string_t<Values...> format, const Values&... values) const {
    log(spdlog::level::warn, format, values...);
  }
  template <typename... Values>
  void error(spdlog::format_string_t<Values...> format, const Values&... values) const {
    log(spdlog::level::err, format, values...);
  }
  void flush() const { logger_->flush(); }

 private:
  template <typename Value>
  static std::string OneText(std::string_view placeholder, const Value& value) {
    return fmt::vformat(fmt::string_view(placeholder.data(), placeholder.size()),
                        fmt::make_format_args(value));
  }

  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace itemdb::common
