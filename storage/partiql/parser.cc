// The grammar of statements:
//
//   statement = select / insert / update / from / delete / exists
//   select    = SELECT ( "*" / path *( "," path ) ) FROM source [ WHERE condition ]
//               [ ORDER BY name [ ASC / DESC ] *( "," name [ ASC / DESC ] ) ]
//   insert    = INSERT INTO name VALUE map
//   update    = UPDATE name 1*change WHERE condition [ returning ]
//   from      = FROM name WHERE condition 1*change [ returning ]
//   change    = SET path "=" ... *( "," path "=" ... ) / REMOVE path *( "," path )
//   delete    = DELETE FROM name WHERE condition [ returning ]
//   exists    = EXISTS "(" SELECT "*" FROM name WHERE condition ")"
//   source    = name [ "." name ]
//   returning = RETURNING ( ALL / MODIFIED ) ( OLD / NEW ) "*"
#include "storage/partiql/parser.h"

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/partiql/expression_parser.h"
#include "storage/values/canonical.h"
#include "storage/values/utf8.h"

namespace itemdb::storage::partiql {
namespace {

class StatementParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  void Parse() {
    bool parsed = false;
    if (AcceptWord("SELECT")) {
      parsed = ParseSelect();
    } else if (AcceptWord("INSERT")) {
      parsed = ParseInsert();
    } else if (AcceptWord("UPDATE")) {
      parsed = ParseUpdate();
    } else if (AcceptWord("FROM")) {
      parsed = ParseFromFirst();
    } else if (AcceptWord("DELETE")) {
      parsed = ParseDelete();
    } else if (AcceptWord("EXISTS")) {
      parsed = ParseExists();
    } else {
      Expected("SELECT, INSERT, UPDATE, DELETE, FROM or EXISTS", "Expected data manipulation");
    }
    if (parsed) Finish();
  }

 private:
  // ---- SELECT
  bool ParseSelect() {
    statement_->kind = StatementKind::kSelect;
    if (!ParseProjection() || !ExpectWord("FROM") || !ParseTable()) return false;
    if (Accept(TokenKind::kDot)) {
      std::optional<std::string> index = ParseName("an index name");
      if (!index) return false;
      statement_->index_name = *std::move(index);
    }
    if (!CheckNoAlias() || !CheckNoOtherClause()) return false;
    if (AtWord("WHERE") && !ParseWhere()) return false;
    if (!CheckNoOtherClause()) return false;
    if (AcceptWord("ORDER") && !ParseOrder()) return false;
    return CheckNoOtherClause();
  }

  bool ParseProjection() {
    if (AtWord("DISTINCT")) {
      Refuse("PQL-11", "DISTINCT is not supported", Peek());
      return false;
    }
    if (Accept(TokenKind::kStar)) return true;
    do {
      if (AtFunction()) {
        if (AtAggregate()) {
          RefuseAggregate();
        } else {
          Refuse("PQL-11", "Functions are not supported in what SELECT shows", Peek());
        }
        return false;
      }
      if (!AtPath()) {
        Expected("* or an attribute");
        return false;
      }
      std::optional<uint32_t> path = ParsePath();
      if (!path || !CheckNoAlias()) return false;
      statement_->projection.push_back(*path);
    } while (Accept(TokenKind::kComma));
    return true;
  }

  bool ParseOrder() {
    if (!ExpectWord("BY")) return false;
    do {
      std::optional<std::string> name = ParseName("a key attribute");
      if (!name) return false;
      SortOrder order{.attribute = *std::move(name)};
      if (AcceptWord("DESC")) {
        order.descending = true;
      } else {
        AcceptWord("ASC");
      }
      statement_->order.push_back(std::move(order));
    } while (Accept(TokenKind::kComma));
    return true;
  }

  // A name that follows a name is an alias, with or without AS. Aliases are not supported (PQL-11).
  bool CheckNoAlias() {
    if (!AtWord("AS") && !AtPath()) return true;
    Refuse("PQL-11", "Aliasing is not supported", Peek());
    return false;
  }

  bool CheckNoOtherClause() {
    std::string_view what;
    if (AtWord("GROUP")) what = "GROUP BY is not supported";
    if (AtWord("HAVING")) what = "HAVING is not supported";
    if (AtWord("LIMIT") || AtWord("OFFSET"))
      what = "LIMIT and OFFSET are not supported; use the request's Limit";
    if (AtWord("UNION")) what = "UNION is not supported";
    if (AtWord("JOIN") || At(TokenKind::kComma)) what = "Joins are not supported";
    if (what.empty()) return true;
    Refuse("PQL-11", what, Peek());
    return false;
  }

  // ---- writes
  bool ParseInsert() {
    statement_->kind = StatementKind::kInsert;
    if (!ExpectWord("INTO") || !ParseTable() || !ExpectWord("VALUE")) return false;
    std::optional<std::string> item = ParseItem();
    if (!item) return false;
    statement_->item = *std::move(item);
    return true;
  }

  bool ParseUpdate() {
    statement_->kind = StatementKind::kUpdate;
    return ParseTable() && ParseChanges() && ParseWhere() && ParseReturning();
  }

  bool ParseFromFirst() {
    statement_->kind = StatementKind::kUpdate;
    return ParseTable() && ParseWhere() && ParseChanges() && ParseReturning();
  }

  bool ParseDelete() {
    statement_->kind = StatementKind::kDelete;
    return ExpectWord("FROM") && ParseTable() && ParseWhere() && ParseReturning();
  }

  bool ParseExists() {
    statement_->kind = StatementKind::kExists;
    return Expect(TokenKind::kLeftParenthesis, "(") && ExpectWord("SELECT") &&
           Expect(TokenKind::kStar, "*") && ExpectWord("FROM") && ParseTable() && ParseWhere() &&
           Expect(TokenKind::kRightParenthesis, ")");
  }

  bool ParseChanges() {
    if (!AtWord("SET") && !AtWord("REMOVE")) {
      Expected("SET or REMOVE");
      return false;
    }
    for (;;) {
      const bool set = AcceptWord("SET");
      if (!set && !AcceptWord("REMOVE")) return true;
      do {
        if (set ? !ParseChange() : !ParseRemoval()) return false;
      } while (Accept(TokenKind::kComma));
    }
  }

  bool ParseReturning() {
    if (!AcceptWord("RETURNING")) return true;
    const Token what = Peek();
    const bool all = AcceptWord("ALL");
    if (!all && !AcceptWord("MODIFIED")) {
      Expected("ALL or MODIFIED");
      return false;
    }
    const bool is_old = AcceptWord("OLD");
    if (!is_old && !AcceptWord("NEW")) {
      Expected("OLD or NEW");
      return false;
    }
    if (statement_->kind == StatementKind::kDelete && !(all && is_old)) {
      Refuse("PQL-05", "DELETE returns ALL OLD * only", what);
      return false;
    }
    if (all) {
      statement_->return_values = is_old ? v1::RETURN_VALUES_ALL_OLD : v1::RETURN_VALUES_ALL_NEW;
    } else {
      statement_->return_values = is_old ? v1::RETURN_VALUES_UPDATED_OLD : v1::RETURN_VALUES_UPDATED_NEW;
    }
    return Expect(TokenKind::kStar, "*");
  }

  // ---- parts
  bool ParseTable() {
    if (At(TokenKind::kLeftParenthesis)) {
      Refuse("PQL-11", "Sub-selects are not supported", Peek());
      return false;
    }
    std::optional<std::string> name = ParseName("a table name");
    if (!name) return false;
    statement_->table_name = *std::move(name);
    return true;
  }

  bool ParseWhere() {
    if (!ExpectWord("WHERE")) return false;
    statement_->where = ParseCondition();
    return statement_->where.has_value();
  }
};

// The limit counts characters, not bytes (PQL-12).
absl::Status CheckLength(std::string_view text) {
  size_t characters = 0;
  for (char c : text) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  if (characters < 1 || characters > kMaxStatementCharacters) {
    return ValidationError("PQL-12", absl::StrCat("a statement must be 1 to ", kMaxStatementCharacters,
                                                  " characters long; this one has ", characters));
  }
  if (IsValidUtf8(text)) return absl::OkStatus();
  return ValidationError("PQL-18", "Statement wasn't well formed, can't be processed: it is not valid UTF-8");
}

}  // namespace

absl::StatusOr<Statement> ParseStatement(std::string_view text, const Parameters& parameters) {
  ITEMDB_RETURN_IF_ERROR(CheckLength(text));
  std::vector<std::string> values;
  values.reserve(static_cast<size_t>(parameters.size()));
  for (const std::string& parameter : parameters) {
    absl::StatusOr<std::string> canonical = CanonicalizeValue(parameter);
    if (!canonical.ok()) {
      return Reworded(canonical.status(),
                      {.addition = absl::StrCat(" (parameter ", values.size() + 1, " of the statement)")});
    }
    values.push_back(*std::move(canonical));
  }
  Statement statement;
  StatementParser parser(text, values, &statement);
  parser.Parse();
  ITEMDB_RETURN_IF_ERROR(parser.status());
  return statement;
}

}  // namespace itemdb::storage::partiql
