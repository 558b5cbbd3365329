#!/usr/bin/python3
"""Every model of examples/, with boto3: its tables, its items, and each access pattern's answer."""

import functools
import glob
import json
import os
import unittest

import boto3
import botocore.config

import order_entry

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]
EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples")
# No validation of parameters: Debian's botocore does not know index keys of several attributes and would
# refuse them.
CONFIG = botocore.config.Config(parameter_validation=False, retries={"max_attempts": 1, "mode": "standard"})
BATCH = 25


@functools.cache
def client():
    return boto3.client("dynamodb", endpoint_url=ENDPOINT, config=CONFIG)


def read(model, name):
    with open(os.path.join(EXAMPLES, model, name), encoding="utf-8") as file:
        return file.read()


def tables(model):
    paths = sorted(glob.glob(os.path.join(EXAMPLES, model, "*.table.json")))
    return [os.path.basename(path).removesuffix(".table.json") for path in paths]


def load(model):
    for name in tables(model):
        client().create_table(**json.loads(read(model, f"{name}.table.json")))
        items = [json.loads(line) for line in read(model, f"{name}.items.jsonl").splitlines()]
        for begin in range(0, len(items), BATCH):
            requests = [{"PutRequest": {"Item": item}} for item in items[begin:begin + BATCH]]
            assert client().batch_write_item(RequestItems={name: requests})["UnprocessedItems"] == {}


def drop(model):
    for name in tables(model):
        client().delete_table(TableName=name)


class Models(unittest.TestCase):
    def test_every_access_pattern_of_every_model_has_its_answer(self):
        models = sorted(os.path.basename(os.path.dirname(path))
                        for path in glob.glob(os.path.join(EXAMPLES, "*", "patterns.json")))
        self.assertEqual(models, ["adjacency_list", "ecommerce_single_table", "one_to_many", "order_entry"])
        answered = 0
        for model in models:
            load(model)
            self.addCleanup(drop, model)
            for pattern in json.loads(read(model, "patterns.json")):
                found = []
                for request in pattern["Requests"]:
                    self.assertIn(request["Operation"], ("GetItem", "Query"), "no pattern scans (SEED-052)")
                    call = getattr(client(), order_entry.snake(request["Operation"]))
                    reply = call(**request["Request"])
                    self.assertNotIn("LastEvaluatedKey",
                                     {} if "Limit" in request["Request"] else reply)
                    found += order_entry.found(reply)
                with self.subTest(model=model, pattern=pattern["Name"]):
                    self.assertEqual(found, pattern["Items"])
                    answered += 1
        self.assertEqual(answered, 15 + 7 + 18 + 15)


class OneToMany(unittest.TestCase):
    """The writes of the one-to-many strategies."""

    @classmethod
    def setUpClass(cls):
        load("one_to_many")

    @classmethod
    def tearDownClass(cls):
        drop("one_to_many")

    def set_address(self, name, most):
        client().update_item(
            TableName="Customers", Key={"CustomerId": {"S": "avega"}},
            UpdateExpression="SET MailingAddresses.#name = :address",
            ConditionExpression="size(MailingAddresses) < :most OR attribute_exists(MailingAddresses.#name)",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":address": {"M": {"Street": {"S": "1 New St"}}}, ":most": {"N": str(most)}})

    def test_addresses_are_changed_one_at_a_time_and_bounded(self):
        # A map of at most 20 addresses (SEED-062).
        self.set_address("Cabin", 20)
        with self.assertRaises(client().exceptions.ConditionalCheckFailedException):
            self.set_address("Boat", 4)
        self.set_address("Cabin", 4)
        client().update_item(TableName="Customers", Key={"CustomerId": {"S": "avega"}},
                             UpdateExpression="REMOVE MailingAddresses.Cabin")
        item = client().get_item(TableName="Customers", Key={"CustomerId": {"S": "avega"}})["Item"]
        self.assertEqual(sorted(item["MailingAddresses"]["M"]), ["Home", "Parents", "Work"])

    def test_a_fact_about_an_author_is_changed_in_every_copy_at_once(self):
        # All copies of a duplicated value change in one transaction (SEED-064).
        copies = client().query(TableName="Books", IndexName="BooksByAuthor",
                                KeyConditionExpression="AuthorName = :a",
                                ExpressionAttributeValues={":a": {"S": "Stephen King"}})["Items"]
        client().transact_write_items(TransactItems=[
            {"Update": {"TableName": "Books", "Key": {"Title": copy["Title"]},
                        "UpdateExpression": "SET AuthorBirthYear = :year",
                        "ExpressionAttributeValues": {":year": {"N": "1948"}}}} for copy in copies])
        for title in ("Carrie", "It", "The Shining"):
            item = client().get_item(TableName="Books", Key={"Title": {"S": title}})["Item"]
            self.assertEqual(item["AuthorBirthYear"], {"N": "1948"})


if __name__ == "__main__":
    unittest.main()
