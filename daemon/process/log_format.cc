#include "daemon/process/log_format.h"

#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

// The syslog priority of `level`.
char Priority(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return '2';
    case spdlog::level::err:
      return '3';
    case spdlog::level::warn:
      return '4';
    case spdlog::level::info:
      return '6';
    default:
      return '7';
  }
}

std::string LevelName(spdlog::level::level_enum level) {
  // spdlog says "warning"; --log-level says "warn".
  if (level == spdlog::level::warn) return "warn";
  auto name = spdlog::level::to_string_view(level);
  return std::string(name.data(), name.size());
}

nlohmann::ordered_json JsonValue(std::string_view value) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  bool plain = error == std::errc() && end == value.data() + value.size() && std::to_string(number) == value;
  // From 2^53 on a number is written as a string: JSON readers that use doubles would change it.
  if (plain && number < (int64_t{1} << 53) && number > -(int64_t{1} << 53)) return number;
  return std::string(value);
}

class LogFormatter final : public spdlog::formatter {
 public:
  explicit LogFormatter(LogStyle style) : style_(style) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const std::string_view payload(message.payload.data(), message.payload.size());
    std::string text = style_.json ? Json(message, payload) : Text(message, payload);
    text += '\n';
    line.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LogFormatter>(style_); }

 private:
  std::string Time(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t buffer;
    time_.format(message, buffer);
    return std::string(buffer.data(), buffer.size());
  }

  std::string Prefix(const spdlog::details::log_msg& message) const {
    return style_.journal ? absl::StrFormat("<%c>", Priority(message.level)) : "";
  }

  std::string Text(const spdlog::details::log_msg& message, std::string_view payload) {
    std::string line = Prefix(message);
    if (!style_.journal) line += absl::StrFormat("%s %s ", Time(message), LevelName(message.level));
    return line + common::OneLine(payload);
  }

  std::string Json(const spdlog::details::log_msg& message, std::string_view payload) {
    const common::LogLine line = common::ParseLogLine(payload);
    nlohmann::ordered_json json;
    json["time"] = Time(message);
    json["level"] = LevelName(message.level);
    json["message"] = line.words;
    for (const auto& [name, value] : line.fields)
      json[json.contains(name) ? "field_" + name : name] = JsonValue(value);
    return Prefix(message) + json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  const LogStyle style_;
  spdlog::pattern_formatter time_{"%Y-%m-%dT%H:%M:%S.%e%z", spdlog::pattern_time_type::local, ""};
};

}  // namespace

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogStyle style) {
  return std::make_unique<LogFormatter>(style);
}

bool StderrIsJournal(const char* journal_stream_or_null) {
  unsigned long device = 0, inode = 0;
  struct stat info = {};
  return journal_stream_or_null != nullptr &&
         std::sscanf(journal_stream_or_null, "%lu:%lu", &device, &inode) == 2 &&
         fstat(STDERR_FILENO, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

common::Log MakeStderrLog(const std::string& level, LogStyle style) {
  auto log = std::make_shared<spdlog::logger>("itemd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log->set_formatter(MakeLogFormatter(style));
  log->set_level(spdlog::level::from_str(level));
  return log;
}

}  // namespace itemdb::daemon
