"""The order-entry application's tables, items and access patterns, read from examples/order_entry."""

import json
import os
import re

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "order_entry")
TABLES = ("Customer", "Employee", "Order", "Product")


def table(name):
    with open(os.path.join(FOLDER, f"{name}.table.json"), encoding="utf-8") as file:
        return json.load(file)


def items(name):
    with open(os.path.join(FOLDER, f"{name}.items.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def patterns():
    with open(os.path.join(FOLDER, "patterns.json"), encoding="utf-8") as file:
        return json.load(file)


def snake(member):
    """KeyConditionExpression -> key_condition_expression."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", member).lower()


def found(reply):
    """The items of a reply of GetItem or Query."""
    return reply["Items"] if "Items" in reply else [reply["Item"]] if "Item" in reply else []
