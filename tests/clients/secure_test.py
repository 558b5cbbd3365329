#!/usr/bin/python3
"""boto3 and the AWS CLI over TLS with access keys: which keys are accepted, what each role may do, keys that change."""

import functools
import os
import subprocess
import time
import unittest

import boto3
import botocore.config
import botocore.exceptions
from botocore.exceptions import ClientError

import with_itemd

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]
KEYS = os.environ["ITEMDB_TEST_KEYS"]
CONFIG = botocore.config.Config(retries={"max_attempts": 1, "mode": "standard"})
SECRET = with_itemd.SECRET
# The longest wait until a new key file takes effect.
PATIENCE_SECONDS = 120

SELECT = "SELECT * FROM things WHERE pk = 'a'"
INSERT = "INSERT INTO things VALUE {'pk': 'b'}"


@functools.cache
def client(key_id, secret=SECRET, **more):
    return boto3.client("dynamodb", endpoint_url=more.pop("endpoint", ENDPOINT), config=CONFIG,
                        aws_access_key_id=key_id, aws_secret_access_key=secret, **more)


class Secure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        client("ADMIN").create_table(
            TableName="things", BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
        client("WRITER").put_item(TableName="things", Item={"pk": {"S": "a"}})

    def refused(self, call, code):
        with self.assertRaises(ClientError) as raised:
            call()
        self.assertEqual(raised.exception.response["Error"]["Code"], code)
        return raised.exception.response["Error"]["Message"]

    def test_each_role_does_what_it_may(self):
        item = {"TableName": "things", "Item": {"pk": {"S": "c"}}}
        for key in ("READER", "WRITER", "ADMIN"):
            self.assertIn("Item", client(key).get_item(TableName="things", Key={"pk": {"S": "a"}}))
        message = self.refused(lambda: client("READER").put_item(**item), "AccessDeniedException")
        self.assertIn("dynamodb:PutItem", message)
        client("WRITER").put_item(**item)
        self.refused(lambda: client("WRITER").delete_table(TableName="things"), "AccessDeniedException")

    def test_read_executes_statements_that_only_read(self):
        reader = client("READER")
        self.assertEqual(reader.execute_statement(Statement=SELECT)["Items"], [{"pk": {"S": "a"}}])
        message = self.refused(lambda: reader.execute_statement(Statement=INSERT), "AccessDeniedException")
        self.assertIn("dynamodb:PartiQLInsert", message)
        responses = reader.batch_execute_statement(Statements=[{"Statement": INSERT}])["Responses"]
        self.assertEqual(responses[0]["Error"]["Code"], "AccessDenied")
        self.refused(lambda: reader.execute_transaction(TransactStatements=[{"Statement": INSERT}]),
                     "AccessDeniedException")

    def test_strangers_do_not_get_in(self):
        self.refused(client("NOBODY").list_tables, "UnrecognizedClientException")
        self.refused(client("ADMIN", "not the secret of it").list_tables, "InvalidSignatureException")

    def test_a_client_that_trusts_others_does_not_connect(self):
        other = os.path.join(os.environ["HOME"], "other")
        with_itemd.make_certificate(other)
        with self.assertRaises(botocore.exceptions.SSLError):
            client("ADMIN", verify=other + ".pem").list_tables()

    def test_without_tls_a_client_hears_that_it_is_needed(self):
        message = self.refused(client("ADMIN", endpoint=ENDPOINT.replace("https:", "http:")).list_tables,
                               "SerializationException")
        self.assertIn("https://", message)

    def test_the_aws_cli_takes_the_authority_as_ca_bundle(self):
        environment = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}
        command = ["/usr/bin/aws", "--endpoint-url", ENDPOINT, "--output", "text", "dynamodb", "list-tables"]
        told = subprocess.run([*command, "--ca-bundle", os.environ["AWS_CA_BUNDLE"]], env=environment, check=False,
                              capture_output=True, text=True)
        self.assertIn("things", told.stdout, told.stderr)

    def test_new_keys_take_effect_while_connections_stay(self):
        keys = [("READER", SECRET, "read"), ("WRITER", SECRET, "write"), ("ADMIN", SECRET, "admin")]
        kept, late = client("ADMIN"), client("LATER", "the secret of a later key")
        kept.list_tables()
        self.refused(late.list_tables, "UnrecognizedClientException")
        with_itemd.write_key_file(KEYS, [*keys, ("LATER", "the secret of a later key", "read")])
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            kept.list_tables()
            try:
                late.list_tables()
                break
            except ClientError:
                self.assertLess(time.monotonic(), give_up)
                time.sleep(0.1)
        with_itemd.write_key_file(KEYS, keys)


if __name__ == "__main__":
    unittest.main(verbosity=2)
