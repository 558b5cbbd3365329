#!/usr/bin/python3
"""Sends the same random requests to itemd and to DynamoDB Local and compares the answers: see README.md.

    compare.py ITEMD JAVA [--kind data|tables] [--seed N] [--count N] [--texts] [--show N]

Its working directory has the node_modules of tests/clients.
"""

import argparse
import collections
import decimal
import http.client
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))
import data_requests
import known_differences
import table_requests
from engines import Itemd, dynamodb_local, run_test

HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/dynamodb/aws4_request, "
                     "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000",
}
# Answers whose order is not said.
UNORDERED = ("Scan", "ExecuteStatement")


class Answer:
    """`exception` is empty when the request was accepted."""

    def __init__(self, status, body):
        self.exception = "" if status == 200 else body.get("__type", "").split("#")[-1]
        self.message = body.get("message") or body.get("Message") or ""
        self.codes = [reason.get("Code") for reason in body.get("CancellationReasons") or []]
        self.body = body


class Side:
    """An engine at an HTTP endpoint."""

    def __init__(self, endpoint):
        self.connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=120)

    def call(self, operation, request):
        self.connection.request("POST", "/", json.dumps(request),
                                {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"})
        response = self.connection.getresponse()
        return Answer(response.status, json.loads(response.read() or b"{}"))

    def need(self, operation, request):
        answer = self.call(operation, request)
        assert not answer.exception, (operation, request, answer.body)
        return answer.body


# More digits than an attribute value has.
numbers = decimal.Context(prec=60)


def same_number(text):
    """A number as both engines may write it."""
    try:
        return str(numbers.add(decimal.Decimal(text), 0).normalize(numbers))
    except decimal.InvalidOperation:
        return text


def comparable(operation, request, body):
    """The answer without what may differ: the order of sets and of items, how numbers are written."""
    def simplify(value):
        if isinstance(value, list):
            return [simplify(member) for member in value]
        if not isinstance(value, dict):
            return value
        simple = {}
        for name, member in value.items():
            if name == "N" and isinstance(member, str):
                simple[name] = same_number(member)
            elif name == "NS" and isinstance(member, list):
                simple[name] = sorted(same_number(number) for number in member)
            elif name in ("SS", "BS") and isinstance(member, list):
                simple[name] = sorted(member)
            else:
                simple[name] = simplify(member)
        return simple

    def in_order(items):
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))

    simple = simplify(body)
    if operation in UNORDERED or (operation == "Query" and "IndexName" in request):
        if "Items" in simple:
            simple["Items"] = in_order(simple["Items"])
    if operation == "BatchGetItem":
        simple["Responses"] = {table: in_order(items) for table, items in simple.get("Responses", {}).items()}
    # Estimates, which Local does not have.
    simple.pop("ItemCollectionMetrics", None)
    return simple


class Difference:
    """`kind`: accepted (by one), exception, reasons (of a cancelled transaction), answer, capacity, text."""

    def __init__(self, operation, request, ours, theirs):
        self.operation, self.request, self.ours, self.theirs = operation, request, ours, theirs
        self.kind = self.kind_of()

    def kind_of(self):
        ours, theirs = self.ours, self.theirs
        if bool(ours.exception) != bool(theirs.exception):
            return "accepted"
        if ours.exception != theirs.exception:
            return "exception"
        if ours.exception:
            return "reasons" if ours.codes != theirs.codes else "text" if ours.message != theirs.message else ""
        if self.operation in table_requests_without_answer:
            return ""
        one, other = (comparable(self.operation, self.request, answer.body) for answer in (ours, theirs))
        capacities = [answer.pop("ConsumedCapacity", None) for answer in (one, other)]
        if one != other:
            return "answer"
        return "capacity" if capacities[0] != capacities[1] else ""

    def text(self):
        def of(answer):
            return f"{answer.exception}: {answer.message}" if answer.exception else json.dumps(answer.body)
        return (f"{self.kind}: {self.operation} {json.dumps(self.request)}\n"
                f"   itemd: {of(self.ours)[:600]}\n   Local: {of(self.theirs)[:600]}")


# Descriptions of tables have times, ARNs and sizes; only whether a request is accepted is compared.
table_requests_without_answer = ("CreateTable", "UpdateTable", "DescribeTable", "DeleteTable", "ListTables")


def make_the_same(itemd, local):
    """Gives Local the items of itemd, after a write had another effect there."""
    for table, key_names in data_requests.KEYS.items():
        for item in local.need("Scan", {"TableName": table})["Items"]:
            local.need("DeleteItem", {"TableName": table, "Key": {name: item[name] for name in key_names}})
        for item in itemd.need("Scan", {"TableName": table})["Items"]:
            local.need("PutItem", {"TableName": table, "Item": item})


def delete(side, table):
    for _ in range(100):
        # A request may have protected it; an index that is being made keeps the table.
        side.call("UpdateTable", {"TableName": table, "DeletionProtectionEnabled": False})
        if not side.call("DeleteTable", {"TableName": table}).exception:
            return
        time.sleep(0.1)
    sys.exit(f"table {table} cannot be deleted")


def restore_tables(sides):
    """Deletes the tables that were made, and makes those anew that may have been changed."""
    for side in sides:
        for table in side.need("ListTables", {})["TableNames"]:
            delete(side, table)
        for table in table_requests.TABLES:
            side.need("CreateTable", table)


def compare(arguments, itemd, local):
    module = data_requests if arguments.kind == "data" else table_requests
    for side in (itemd, local):
        for table in module.TABLES:
            side.need("CreateTable", table)
    requests = (data_requests.DataRequests if arguments.kind == "data" else table_requests.TableRequests)(arguments.seed)
    known, texts, unknown = collections.Counter(), collections.Counter(), []
    accepted = 0
    for _ in range(arguments.count):
        operation, request = requests.next()
        ours, theirs = itemd.call(operation, request), local.call(operation, request)
        accepted += not ours.exception
        difference = Difference(operation, request, ours, theirs)
        if operation in ("CreateTable", "UpdateTable", "DeleteTable") and not (ours.exception and theirs.exception):
            restore_tables((itemd, local))
        # What only Local creates would be met again and again.
        if arguments.kind == "data" and known_differences.creates_nothing(operation, request):
            make_the_same(itemd, local)
        if not difference.kind:
            continue
        if difference.kind == "text":
            texts[re.sub(r"[0-9]+", "9", f"{operation}: {ours.message} | {theirs.message}")] += 1
            continue
        rule = known_differences.rule_of(difference)
        if rule is None:
            unknown.append(difference)
        else:
            known[rule] += 1
        if arguments.kind == "data" and difference.kind in ("accepted", "answer"):
            make_the_same(itemd, local)
    print(f"{arguments.kind}, seed {arguments.seed}: {arguments.count} requests, {accepted} accepted, "
          f"{sum(known.values())} known differences, {len(unknown)} others; {sum(texts.values())} refusals with another text")
    for rule, count in known.most_common():
        print(f"  {count:5} {rule.name}: {rule.reason}")
    if arguments.texts:
        for text, count in texts.most_common():
            print(f"  {count:5} {text}")
    for difference in unknown[:arguments.show]:
        print(difference.text())
    return not unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("itemd")
    parser.add_argument("java")
    parser.add_argument("--kind", choices=("data", "tables"), default="data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2500)
    parser.add_argument("--texts", action="store_true", help="print the texts that differ")
    parser.add_argument("--show", type=int, default=20, help="print so many of the unknown differences")
    arguments = parser.parse_args()
    # It is started in a folder of its own.
    itemd = Side(Itemd(str(pathlib.Path(arguments.itemd).resolve()), "itemd").http)
    local = Side(dynamodb_local(arguments.java, "-inMemory").http)
    if not compare(arguments, itemd, local):
        sys.exit("answers differ in ways that known_differences.py does not have")


run_test(main)
