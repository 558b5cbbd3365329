#!/usr/bin/python3
"""The AWS CLI as a client of itemd's HTTP endpoint, one process for each request."""

import json
import os
import subprocess
import unittest

import order_entry

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]


def run(*arguments):
    return subprocess.run(["/usr/bin/aws", "--endpoint-url", ENDPOINT, "--output", "json", "dynamodb", *arguments],
                          check=False, capture_output=True, text=True)


def aws(*arguments):
    result = run(*arguments)
    if result.returncode != 0:
        raise AssertionError(f"aws dynamodb {' '.join(arguments)}: {result.stderr}")
    return json.loads(result.stdout) if result.stdout else {}


class OrderEntry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name in order_entry.TABLES:
            aws("create-table", "--cli-input-json", json.dumps(order_entry.table(name)))
            requests = [{"PutRequest": {"Item": item}} for item in order_entry.items(name)]
            aws("batch-write-item", "--request-items", json.dumps({name: requests}))

    def test_every_access_pattern_has_the_documents_answer(self):
        for pattern in order_entry.patterns():
            found = []
            for request in pattern["Requests"]:
                command = order_entry.snake(request["Operation"]).replace("_", "-")
                found += order_entry.found(aws(command, "--cli-input-json", json.dumps(request["Request"])))
            self.assertEqual(found, pattern["Items"], pattern["Name"])

    def test_pages_are_followed(self):
        reply = aws("scan", "--table-name", "Order", "--page-size", "2")
        self.assertEqual(reply["Count"], len(order_entry.items("Order")))

    def test_errors_are_told(self):
        result = run("get-item", "--table-name", "nowhere", "--key", '{"pk": {"S": "x"}}')
        self.assertEqual(result.returncode, 254)
        self.assertIn("(ResourceNotFoundException)", result.stderr)
        result = run("get-item", "--table-name", "Order", "--key", '{"PK": {"S": "x"}}')
        self.assertEqual(result.returncode, 254)
        self.assertIn("The provided key element does not match the schema", result.stderr)

    def test_time_to_live_is_turned_on_and_off(self):
        """UpdateTimeToLive (OP-11) and DescribeTimeToLive (OP-12); turning it on twice is refused (SEM-111)."""
        def update(enabled):
            return ("update-time-to-live", "--table-name", "Order", "--time-to-live-specification",
                    f"Enabled={enabled},AttributeName=expires")
        self.assertEqual(aws(*update("true"))["TimeToLiveSpecification"],
                         {"Enabled": True, "AttributeName": "expires"})
        described = aws("describe-time-to-live", "--table-name", "Order")["TimeToLiveDescription"]
        self.assertIn(described["TimeToLiveStatus"], ("ENABLING", "ENABLED"))
        result = run(*update("true"))
        self.assertEqual(result.returncode, 254)
        self.assertIn("(ValidationException)", result.stderr)
        self.assertIn("TimeToLive is already enabled", result.stderr)
        aws(*update("false"))

    def test_an_order_is_closed_by_a_condition(self):
        key = {"PK": {"S": "ord_cli"}, "SK": {"S": "ord_cli"}}
        aws("put-item", "--table-name", "Order", "--item",
            json.dumps({**key, "status": {"S": "OPEN"}, "shard": {"N": "4"}}))
        self.addCleanup(aws, "delete-item", "--table-name", "Order", "--key", json.dumps(key))
        update = ("update-item", "--table-name", "Order", "--key", json.dumps(key), "--update-expression",
                  "SET #status = :closed REMOVE #shard", "--condition-expression", "#status = :open",
                  "--expression-attribute-names", '{"#status": "status", "#shard": "shard"}',
                  "--expression-attribute-values", '{":closed": {"S": "CLOSED"}, ":open": {"S": "OPEN"}}',
                  "--return-values", "ALL_NEW")
        self.assertEqual(aws(*update)["Attributes"], {**key, "status": {"S": "CLOSED"}})
        result = run(*update)
        self.assertEqual(result.returncode, 254)
        self.assertIn("(ConditionalCheckFailedException)", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
