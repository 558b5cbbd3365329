"""Differences between itemd and DynamoDB Local that are meant: where Local differs from DynamoDB's documentation, or
where itemd decides otherwise (docs/compatibility.md). Ids are rules of docs/rules.md."""

import collections
import json
import re

Rule = collections.namedtuple("Rule", "name reason when")

FORM = ("ValidationException", "SerializationException")
# Found when items are read or written.
LATER = ("ConditionalCheckFailedException", "ResourceNotFoundException", "TransactionCanceledException",
         "DuplicateItemException", "DuplicateItem", "LimitExceededException")


def says(answer, *texts):
    return any(text in answer.message for text in texts)


def creates_nothing(operation, request):
    """Whether an update of the request only removes."""
    if operation == "TransactWriteItems":
        return any(creates_nothing("UpdateItem", action["Update"]) for action in request["TransactItems"] if "Update" in action)
    if operation != "UpdateItem":
        return False
    words = re.findall(r"[A-Za-z]+", request.get("UpdateExpression", ""))
    if words:
        return not any(word.upper() in ("SET", "ADD") for word in words)
    updates = request.get("AttributeUpdates", {}).values()
    return bool(updates) and all(update.get("Action") == "DELETE" for update in updates)


def is_refused_only_here(difference):
    return difference.ours.exception in FORM and not difference.theirs.exception


def is_accepted_only_here(difference):
    return not difference.ours.exception and difference.theirs.exception


RULES = [
    Rule("local-fails", "Local ends with InternalFailure",
         lambda d: d.theirs.exception == "InternalFailure" and d.ours.exception in ("", *FORM)),
    Rule("DuplicateItem", "the exception is called DuplicateItemException in DynamoDB's model, and DuplicateItem in Local",
         lambda d: (d.ours.exception, d.theirs.exception) == ("DuplicateItemException", "DuplicateItem")),
    Rule("form-first", "SEM-113: a member of a wrong JSON type is refused before anything else; Local converts numbers and "
         "texts, or looks at other members first",
         lambda d: d.ours.exception == "SerializationException"),
    Rule("request-first", "SEM-115: what is wrong in the request itself is refused before tables, items and conditions are "
         "looked at",
         lambda d: d.ours.exception in FORM and d.theirs.exception in LATER),
    Rule("names-of-enums", "Local does not look at ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure and Select "
         "where they do not matter",
         lambda d: is_refused_only_here(d) and says(d.ours, "failed to satisfy constraint: Member must satisfy enum value")),
    Rule("placeholders-without-expressions", "SEM-115: names or values without an expression are refused; Local does so only "
         "where values are missing in the other member too",
         lambda d: is_refused_only_here(d) and says(d.ours, "can only be specified when using expressions")),
    Rule("checked-always", "expressions are checked before items are read: reserved words, operands of wrong types, "
         "size() as an operand of functions. Local finds some of them only when it evaluates",
         lambda d: is_refused_only_here(d) and says(d.ours, "reserved keyword", "Incorrect operand type",
                                                    "not allowed to be used this way")),
    Rule("index-projection", "SEM-037: a scan or query of a global index may not filter by what is not projected, one of a "
         "local index may; Local has it the other way round",
         lambda d: says(d.ours, "does not project one or more filter attributes")
         or says(d.theirs, "does not project one or more filter attributes")),
    Rule("remove-of-nothing", "EXP-33: an update that only removes creates no item; Local creates it",
         lambda d: d.kind == "answer" and creates_nothing(d.operation, d.request)),
    Rule("size-of-nothing", "size() of an attribute that is not there compares as false, also with <> (compatibility.md); in "
         "Local <> is true",
         lambda d: "size(" in json.dumps(d.request) and "<>" in json.dumps(d.request)
         and d.kind in ("accepted", "reasons", "answer") and not (d.ours.exception and d.theirs.exception)),
    Rule("transaction-reasons", "SEM-007: a key that does not fit, or an update that the item does not allow, cancels the "
         "transaction with ValidationError; Local refuses the request",
         lambda d: d.ours.exception == "TransactionCanceledException"
         and (d.theirs.exception == "ValidationException" or d.kind == "reasons" and not d.theirs.codes)),
    Rule("removed-path", "EXP-27: removing what has no parent is no error when the item does not exist; Local refuses it",
         lambda d: is_accepted_only_here(d) and says(d.theirs, "The document path provided in the update expression")),
    Rule("checked-before", "values of key attributes and numbers of conditions are checked by Local before the condition is, "
         "or before the item that is there; itemd and DynamoDB answer the condition",
         lambda d: d.ours.exception in LATER and d.theirs.exception == "ValidationException"),
    Rule("on-demand", "a table on demand has no throughput to update; Local takes one",
         lambda d: is_refused_only_here(d) and says(d.ours, "can be specified when BillingMode is PAY_PER_REQUEST")),
    Rule("parameters-of-statements", "PQL-10: there are as many parameters as question marks, at least one if the member is there, and "
         "what is wrong with one is the error of its statement; Local ignores what is too much, or refuses the batch",
         lambda d: d.operation in ("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction")
         and ("Number of parameters in request and statement" in json.dumps(d.ours.body)
              or says(d.ours, "arameters' failed to satisfy constraint")
              or d.operation == "BatchExecuteStatement" and '"Error"' in json.dumps(d.ours.body))),
    Rule("index-key-of-update", "SEM-070: what ADD makes of an index key attribute must have the key's type; Local does not look",
         lambda d: d.ours.exception and not d.theirs.exception
         and "Type mismatch for Index Key" in json.dumps(d.ours.body)),
    Rule("null-key", "a key attribute IS NULL in a statement is false; Local takes it for a value of a wrong type",
         lambda d: is_accepted_only_here(d) and says(d.theirs, "Condition parameter type does not match schema type",
                                                     "Key attribute's data type should match its data type")
         and " NULL" in d.request.get("Statement", "").upper()),
    Rule("list-as-default", "EXP-10: a list_append may be the second operand of if_not_exists; Local refuses it, as it does in "
         "list_append",
         lambda d: is_accepted_only_here(d) and says(d.theirs, "not allowed to be used this way in an expression; function: list_append")
         and "if_not_exists" in json.dumps(d.request)),
    Rule("end-of-page", "SEM-030: a page that ends because of Limit has a LastEvaluatedKey; Local leaves it out where the key "
         "condition allows nothing behind it",
         lambda d: d.kind == "answer" and "Limit" in d.request and "LastEvaluatedKey" not in d.theirs.body
         and {k: v for k, v in d.ours.body.items() if k != "LastEvaluatedKey"} == d.theirs.body),
    Rule("key-paths", "SEM-071: a path into a key attribute is refused; Local does not look at those of a ConditionCheck",
         lambda d: is_refused_only_here(d) and d.operation == "TransactWriteItems"
         and "ConditionCheck" in json.dumps(d.request) and says(d.ours, "Key attributes must be scalars")),
    Rule("key-values-of-in", "each value that a statement compares a key attribute with must have the key's type; Local looks "
         "at those of the first condition only",
         lambda d: is_refused_only_here(d) and says(d.ours, "Condition parameter type does not match schema type")
         and " IN [" in d.request.get("Statement", "").upper()),
    Rule("leading-zeros", "an index with leading zeros, a[01], is an index; Local's grammar has none",
         lambda d: says(d.theirs, "Syntax error") and "[0" in json.dumps(d.request)),
    Rule("capacity", "SEM-062, SEM-063: what finds nothing costs the least; the old and the new entry of an index cost when a "
         "key changes; Local counts zero, or the table's part only",
         lambda d: d.kind == "capacity"),
]


def rule_of(difference):
    """None: the difference is not known."""
    return next((rule for rule in RULES if rule.when(difference)), None)
