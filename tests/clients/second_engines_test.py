#!/usr/bin/python3
"""itemctl over HTTP with other engines of DynamoDB's protocol gives the answers that it gives with itemd.

second_engines_test.py ITEMD ITEMCTL NODE EXAMPLES PROGRAMS [JAVA]

PROGRAMS is the folder of the example programs.

DynamoDB Local and dynalite come from npm, into node_modules beside this program's copy. Without JAVA only dynalite is
tested.
"""

import json
import pathlib
import re
import subprocess
import sys

from engines import Itemd, dynalite, dynamodb_local, environment, run_test, work

itemd, itemctl, node, examples, programs = sys.argv[1:6]
java = sys.argv[6] if len(sys.argv) > 6 else None


def call(endpoint, *arguments):
    result = subprocess.run([itemctl, "--endpoint", endpoint, "-o", "jsonl", *arguments], text=True,
                            capture_output=True, check=False, env=environment)
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def same(engine, name, *arguments, order=True, code=0):
    """The command's output is that of itemd, and both have this exit code."""
    expected = call(reference, *arguments)
    assert expected[0] == code, (name, arguments, expected)
    got = call(engine, *arguments)
    lines = [sorted(map(json.dumps, side[1])) if not order else side[1] for side in (expected, got)]
    assert got[0] == expected[0] and lines[0] == lines[1], (name, arguments, expected, got)
    return got


def test_order_entry(engine, name):
    """The application with its transactions: tables, data, the fifteen patterns, writes, errors."""
    same(engine, name, "order-entry", "load")
    for _ in range(2):
        answers = same(engine, name, "order-entry", "all")[1]
        assert [answer["pattern"] for answer in answers] == list(range(1, 16)), answers
        same_writes(engine, name, ["order-entry", "place-order", "ord_900", "cust_001", "--date", "2026-01-20", "--rep",
                                   "rep_001", "--line", "prod_100", "wh_sea", "3", "25.00"])
    same_writes(engine, name, ["order-entry", "close-order", "ord_900"])
    same_writes(engine, name, ["order-entry", "close-order", "ord_900"])
    same(engine, name, "order-entry", "all")


def same_writes(engine, name, arguments):
    """A call that has the same exit code, whatever it prints: change sequences differ."""
    expected = call(reference, *arguments)
    got = call(engine, *arguments)
    assert got[0] == expected[0], (name, arguments, expected, got)
    return got[0]


def test_model(engine, name, model):
    folder = f"{examples}/{model}"
    for endpoint in (reference, engine):
        code, _, error = call(endpoint, "model", "apply", folder)
        assert code == 0, (name, model, endpoint, error)
    assert call(engine, "model", "check", folder)[0] == 0, call(engine, "model", "check", folder)
    results = {}
    for endpoint in (reference, engine):
        results[endpoint] = [(line["Name"], line["Result"], line["Count"]) for line in call(endpoint, "model", "run", folder)[1]]
    assert results[engine] == results[reference], (name, model, results)
    assert all(result == "OK" for _, result, _ in results[engine]), results


def test_program(engine, name, program, *arguments):
    """An example program asks the same and is answered the same. Items with equal keys of an index come in any order."""
    said = {}
    for endpoint in (reference, engine):
        result = subprocess.run([f"{programs}/{program}", endpoint, *arguments], text=True, capture_output=True, check=False,
                                env=environment)
        assert result.returncode == 0 and result.stdout and not result.stderr, (name, program, endpoint, result)
        said[endpoint] = without_chance(result.stdout)
    assert said[engine] == said[reference], (name, program, said)


def without_chance(text):
    """The questions with their answers, sorted: without the item that a program has drawn by lot, and without
    times and units, of which DynamoDB Local counts none for an empty answer."""
    questions = []
    for line in text.splitlines():
        if not line.startswith(" ") or not questions:
            questions.append([])
        questions[-1].append(re.sub(r", [0-9.]+ read units|, [0-9.]+[mun]?s$| in [0-9.]+ s, [0-9]+ a second$", "", line))
    return sorted([question[0], *sorted(question[1:])] for question in questions if "was drawn" not in question[0])


def test_items(engine, name):
    table = json.dumps({
        "TableName": "things",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                                 {"AttributeName": "sk", "AttributeType": "N"}],
        "BillingMode": "PAY_PER_REQUEST"})
    document = work / "things.json"
    document.write_text(table)
    for endpoint in (reference, engine):
        assert call(endpoint, "table", "create", "-f", str(document))[0] == 0
    for sk in range(1, 8):
        item = json.dumps({"pk": {"S": "a"}, "sk": {"N": str(sk)}, "value": {"N": f"{sk}.50"}, "bytes": {"B": "AAEC/w=="},
                           "map": {"M": {"x": {"L": [{"NULL": True}, {"BOOL": False}, {"SS": ["b", "a"]}]}}}})
        for endpoint in (reference, engine):
            assert call(endpoint, "item", "put", "things", item)[0] == 0
    same(engine, name, "item", "get", "things", '{"pk": "a", "sk": 3}')
    same(engine, name, "item", "get", "things", '{"pk": "a", "sk": 99}', code=3)
    key_condition = ["--key-condition", "pk = :a AND sk >= :n", "--values", '{":a": "a", ":n": 2}']
    assert len(same(engine, name, "query", "things", *key_condition)[1]) == 6
    same(engine, name, "scan", "things", "--filter", "sk > :n", "--values", '{":n": 4}')
    same(engine, name, "count", "things")
    same(engine, name, "batch-get", "--plain", "--request-items",
         '{"things": {"Keys": [{"pk": "a", "sk": 5}, {"pk": "a", "sk": 99}, {"pk": "a", "sk": 1}]}}')
    for arguments in (["item", "put", "things", '{"pk": "a", "sk": 1}', "--condition", "attribute_not_exists(pk)"],
                      ["item", "get", "things", '{"pk": "a"}'],
                      ["item", "get", "nothing", '{"pk": "a"}'],
                      ["item", "update", "things", '{"pk": "a", "sk": 1}', "--update",
                       "SET #v = #v + :n", "--names", '{"#v": "value"}', "--values", '{":n": 1}'],
                      ["item", "delete", "things", '{"pk": "a", "sk": 7}']):
        same_writes(engine, name, arguments)
    same(engine, name, "scan", "things")
    for endpoint in (reference, engine):
        assert call(endpoint, "table", "delete", "things", "--yes")[0] == 0
    same_writes(engine, name, ["item", "get", "things", '{"pk": "a", "sk": 1}'])


def main():
    global reference
    reference = Itemd(itemd, "itemd").http
    if java is not None:
        local = dynamodb_local(java, "-inMemory").http
        test_items(local, "DynamoDB Local")
        test_order_entry(local, "DynamoDB Local")
        # Some have the tables of the application.
        reference = Itemd(itemd, "itemd-models").http
        local = dynamodb_local(java, "-inMemory", name="local-models").http
        models = sorted(path.parent.name for path in pathlib.Path(examples).glob("*/patterns.json"))
        assert len(models) == 4, models
        for model in models:
            test_model(local, "DynamoDB Local", model)
        for model in models:
            test_program(local, "DynamoDB Local", f"example_{model}")
        test_program(local, "DynamoDB Local", "example_ticket_layouts", "--users", "10", "--tickets", "200")
        test_program(local, "DynamoDB Local", "example_one_to_many", "--stores", "300")
        test_program(local, "DynamoDB Local", "example_adjacency_list", "--orders", "200")
        print("DynamoDB Local: as itemd")
    reference = Itemd(itemd, "itemd-dynalite").http
    # What it lacks, such as the transactions of order entry, is in dynalite_test.py.
    address = dynalite(node).http
    test_items(address, "dynalite")
    for model in ("ecommerce_single_table", "adjacency_list"):
        test_model(address, "dynalite", model)
    print("dynalite: as itemd")


run_test(main)
