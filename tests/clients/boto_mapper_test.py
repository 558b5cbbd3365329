#!/usr/bin/python3
"""boto's object mapper (boto.dynamodb2.table: Table, Item) as a client; it predates expressions."""

import os
import unittest
import urllib.parse

from boto.dynamodb2 import fields, table, types
from boto.dynamodb2.exceptions import ConditionalCheckFailedException, ItemNotFound
from boto.dynamodb2.layer1 import DynamoDBConnection

ENDPOINT = urllib.parse.urlparse(os.environ["AWS_ENDPOINT_URL_DYNAMODB"])


def connect():
    return DynamoDBConnection(host=ENDPOINT.hostname, port=ENDPOINT.port, is_secure=False,
                              aws_access_key_id="test", aws_secret_access_key="test")


class Mapper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.users = table.Table.create(
            "users", connection=connect(),
            schema=[fields.HashKey("account"), fields.RangeKey("name")],
            throughput={"read": 5, "write": 5},
            indexes=[fields.AllIndex("by-age", parts=[fields.HashKey("account"),
                                                      fields.RangeKey("age", data_type=types.NUMBER)])],
            global_indexes=[fields.GlobalKeysOnlyIndex("by-city", parts=[fields.HashKey("city")])])

    @classmethod
    def tearDownClass(cls):
        cls.users.delete()

    def test_1_items_are_saved_changed_and_read(self):
        self.assertTrue(self.users.put_item({"account": "acme", "name": "ann", "age": 30, "city": "Oslo"}))
        ann = self.users.get_item(account="acme", name="ann", consistent=True)
        self.assertEqual(ann["age"], 30)
        ann["age"] = 31
        ann["roles"] = {"admin", "author"}
        self.assertTrue(ann.partial_save())
        again = self.users.get_item(account="acme", name="ann")
        self.assertEqual((again["age"], again["roles"]), (31, {"admin", "author"}))
        # The mapper saves an item only if it has not been changed since it was read.
        ann["age"] = 32
        again["age"] = 33
        self.assertTrue(ann.save())
        with self.assertRaises(ConditionalCheckFailedException):
            again.save()

    def test_2_batches_queries_and_counts(self):
        with self.users.batch_write() as batch:
            for number in range(60):
                batch.put_item({"account": "big", "name": f"user-{number:02}", "age": number, "city": "Rome"})
        found = list(self.users.query_2(account__eq="big", name__beginswith="user-1"))
        self.assertEqual([item["name"] for item in found], [f"user-1{digit}" for digit in range(10)])
        found = list(self.users.query_2(account__eq="big", age__gte=50, index="by-age", reverse=True))
        self.assertEqual([item["age"] for item in found], list(range(59, 49, -1)))
        self.assertEqual(len(list(self.users.query_2(city__eq="Rome", index="by-city", max_page_size=7))), 60)
        self.assertEqual(self.users.query_count(account__eq="big", age__lt=10, index="by-age"), 10)
        self.assertEqual(len(list(self.users.scan(age__between=(10, 19)))), 10)
        keys = [{"account": "big", "name": f"user-{number:02}"} for number in range(5)]
        self.assertEqual(len(list(self.users.batch_get(keys=keys))), 5)

    def test_3_what_is_deleted_is_gone(self):
        self.users.put_item({"account": "acme", "name": "bob"})
        self.users.delete_item(account="acme", name="bob")
        with self.assertRaises(ItemNotFound):
            self.users.get_item(account="acme", name="bob")


if __name__ == "__main__":
    unittest.main(verbosity=2)
