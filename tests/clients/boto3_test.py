#!/usr/bin/python3
"""boto3 as a client of itemd's HTTP endpoint: low-level client, resource, paginators, waiters, transactions."""

import datetime
import decimal
import functools
import os
import time
import unittest

import boto3
import botocore.config
import botocore.exceptions
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError

import order_entry

ENDPOINT = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]
# No validation of parameters: Debian's botocore does not know index keys of several attributes and would
# refuse them.
CONFIG = botocore.config.Config(parameter_validation=False, retries={"max_attempts": 1, "mode": "standard"})


@functools.cache
def client():
    return boto3.client("dynamodb", endpoint_url=ENDPOINT, config=CONFIG)


@functools.cache
def resource():
    return boto3.resource("dynamodb", endpoint_url=ENDPOINT, config=CONFIG)


def create(name, sort_type=None, **members):
    """A table with the key `pk`, or `pk` and `sk`."""
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}]
    types = [{"AttributeName": "pk", "AttributeType": "S"}]
    if sort_type:
        keys.append({"AttributeName": "sk", "KeyType": "RANGE"})
        types.append({"AttributeName": "sk", "AttributeType": sort_type})
    types += members.pop("more_types", [])
    made = client().create_table(TableName=name, KeySchema=keys, AttributeDefinitions=types,
                                 BillingMode="PAY_PER_REQUEST", **members)
    client().get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 100})
    return made["TableDescription"]


def code_of(raised):
    return raised.exception.response["Error"]["Code"]


class OrderEntry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name in order_entry.TABLES:
            client().create_table(**order_entry.table(name))
            requests = [{"PutRequest": {"Item": item}} for item in order_entry.items(name)]
            unprocessed = client().batch_write_item(RequestItems={name: requests})["UnprocessedItems"]
            assert unprocessed == {}

    @classmethod
    def tearDownClass(cls):
        for name in order_entry.TABLES:
            client().delete_table(TableName=name)

    def test_every_access_pattern_has_the_documents_answer(self):
        answered = 0
        for pattern in order_entry.patterns():
            found = []
            for request in pattern["Requests"]:
                call = getattr(client(), order_entry.snake(request["Operation"]))
                found += order_entry.found(call(**request["Request"]))
            self.assertEqual(found, pattern["Items"], pattern["Name"])
            answered += 1
        self.assertEqual(answered, 15)

    def test_the_index_with_a_key_of_two_attributes_is_described_as_it_was_made(self):
        made = order_entry.table("Order")["GlobalSecondaryIndexes"]
        described = client().describe_table(TableName="Order")["Table"]["GlobalSecondaryIndexes"]
        of = {index["IndexName"]: index for index in described}
        for index in made:
            self.assertEqual(of[index["IndexName"]]["KeySchema"], index["KeySchema"])
            self.assertEqual(of[index["IndexName"]]["Projection"]["ProjectionType"],
                             index["Projection"]["ProjectionType"])
            self.assertEqual(of[index["IndexName"]]["IndexStatus"], "ACTIVE")


class Tables(unittest.TestCase):
    def test_a_table_lives_from_create_to_delete(self):
        made = create("life", "N", Tags=[{"Key": "team", "Value": "orders"}])
        self.assertEqual(made["TableName"], "life")
        table = client().describe_table(TableName="life")["Table"]
        self.assertEqual(table["TableStatus"], "ACTIVE")
        self.assertEqual(table["ItemCount"], 0)
        self.assertEqual(table["KeySchema"][1], {"AttributeName": "sk", "KeyType": "RANGE"})
        self.assertIn("life", client().list_tables()["TableNames"])
        tags = client().list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
        self.assertEqual(tags, [{"Key": "team", "Value": "orders"}])
        client().tag_resource(ResourceArn=table["TableArn"], Tags=[{"Key": "stage", "Value": "test"}])
        client().untag_resource(ResourceArn=table["TableArn"], TagKeys=["team"])
        tags = client().list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
        self.assertEqual(tags, [{"Key": "stage", "Value": "test"}])
        client().delete_table(TableName="life")
        client().get_waiter("table_not_exists").wait(TableName="life",
                                                     WaiterConfig={"Delay": 1, "MaxAttempts": 100})
        with self.assertRaises(client().exceptions.ClientError) as raised:
            client().describe_table(TableName="life")
        self.assertEqual(code_of(raised), "ResourceNotFoundException")

    def test_names_come_in_pages(self):
        names = [f"paged.{number:02}" for number in range(7)]
        for name in names:
            create(name)
        pages = list(client().get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 3}))
        found = [name for page in pages for name in page["TableNames"] if name.startswith("paged.")]
        self.assertEqual(found, names)
        for name in names:
            client().delete_table(TableName=name)

    def test_a_table_is_created_once(self):
        create("once")
        with self.assertRaises(ClientError) as raised:
            create("once")
        self.assertEqual(code_of(raised), "ResourceInUseException")
        client().delete_table(TableName="once")

    def test_what_has_no_endpoint_of_its_own_is_answered(self):
        limits = client().describe_limits()
        self.assertGreater(limits["TableMaxReadCapacityUnits"], 0)
        endpoint = client().describe_endpoints()["Endpoints"][0]
        self.assertTrue(ENDPOINT.endswith(endpoint["Address"]))


class Backups(unittest.TestCase):
    """OP-30 to OP-36."""

    def test_a_table_comes_back_from_its_backup(self):
        create("backed", "N", more_types=[{"AttributeName": "colour", "AttributeType": "S"}],
               GlobalSecondaryIndexes=[{"IndexName": "by-colour", "Projection": {"ProjectionType": "ALL"},
                                        "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}]}])
        table = resource().Table("backed")
        with table.batch_writer() as writer:
            for number in range(300):
                writer.put_item({"pk": f"p{number % 7}", "sk": number, "colour": ["red", "blue"][number % 2]})
        made = client().create_backup(TableName="backed", BackupName="monday")["BackupDetails"]
        self.assertEqual((made["BackupStatus"], made["BackupType"]), ("CREATING", "USER"))
        described = client().describe_backup(BackupArn=made["BackupArn"])["BackupDescription"]
        self.assertEqual(described["BackupDetails"]["BackupStatus"], "AVAILABLE")
        self.assertEqual(described["BackupDetails"]["BackupCreationDateTime"], made["BackupCreationDateTime"])
        self.assertEqual(described["SourceTableDetails"]["ItemCount"], 300)
        self.assertEqual(described["SourceTableFeatureDetails"]["GlobalSecondaryIndexes"][0]["IndexName"], "by-colour")
        items = table.scan()["Items"]
        table.delete()

        restored = client().restore_table_from_backup(TargetTableName="restored", BackupArn=made["BackupArn"])
        self.assertEqual(restored["TableDescription"]["TableStatus"], "CREATING")
        self.assertTrue(restored["TableDescription"]["RestoreSummary"]["RestoreInProgress"])
        client().get_waiter("table_exists").wait(TableName="restored", WaiterConfig={"Delay": 1, "MaxAttempts": 100})
        table = resource().Table("restored")
        self.assertEqual(table.scan()["Items"], items)
        red = table.query(IndexName="by-colour", KeyConditionExpression=Key("colour").eq("red"))
        self.assertEqual(red["Count"], 150)
        with self.assertRaises(client().exceptions.TableAlreadyExistsException):
            client().restore_table_from_backup(TargetTableName="restored", BackupArn=made["BackupArn"])
        table.delete()

        pages = client().get_paginator("list_backups").paginate(TableName="backed", PaginationConfig={"PageSize": 1})
        self.assertEqual([one["BackupArn"] for page in pages for one in page["BackupSummaries"]], [made["BackupArn"]])
        later = made["BackupCreationDateTime"] + datetime.timedelta(seconds=1)
        self.assertEqual(client().list_backups(TimeRangeLowerBound=later)["BackupSummaries"], [])
        client().delete_backup(BackupArn=made["BackupArn"])
        with self.assertRaises(client().exceptions.BackupNotFoundException):
            client().describe_backup(BackupArn=made["BackupArn"])
        with self.assertRaises(client().exceptions.TableNotFoundException):
            client().create_backup(TableName="backed", BackupName="monday")

    def test_point_in_time_recovery_is_turned_on_and_off(self):
        create("recovered")
        on = client().update_continuous_backups(
            TableName="recovered", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        recovery = on["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        self.assertEqual(recovery["PointInTimeRecoveryStatus"], "ENABLED")
        self.assertLessEqual(recovery["EarliestRestorableDateTime"], recovery["LatestRestorableDateTime"])
        client().delete_table(TableName="recovered")
        for _ in range(600):
            left = client().list_backups(TableName="recovered", BackupType="SYSTEM")["BackupSummaries"]
            if left[0]["BackupStatus"] == "AVAILABLE":
                break
            time.sleep(0.1)
        self.assertEqual(left[0]["BackupName"], "recovered$DeletedTableBackup")
        stays = left[0]["BackupExpiryDateTime"] - left[0]["BackupCreationDateTime"]
        self.assertEqual(stays, datetime.timedelta(days=35))


    def test_exports_end_and_are_listed(self):
        """The buckets of with_itemd.py's daemon do not exist, so exports fail as with a missing bucket of S3."""
        create("exported")
        arn = client().describe_table(TableName="exported")["Table"]["TableArn"]
        with self.assertRaises(client().exceptions.PointInTimeRecoveryUnavailableException):
            client().export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket")
        client().update_continuous_backups(
            TableName="exported", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        begun = client().export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket", ClientToken="token")
        begun = begun["ExportDescription"]
        self.assertEqual(begun["ExportTime"], begun["StartTime"])
        for _ in range(600):
            ended = client().describe_export(ExportArn=begun["ExportArn"])["ExportDescription"]
            if ended["ExportStatus"] != "IN_PROGRESS":
                break
            time.sleep(0.1)
        self.assertEqual((ended["ExportStatus"], ended["FailureCode"]), ("FAILED", "S3NoSuchBucket"))
        self.assertIsInstance(ended["EndTime"], datetime.datetime)
        listed = client().list_exports(TableArn=arn, MaxResults=1)["ExportSummaries"]
        self.assertEqual([one["ExportArn"] for one in listed], [begun["ExportArn"]])
        with self.assertRaises(client().exceptions.ExportConflictException):
            client().export_table_to_point_in_time(TableArn=arn, S3Bucket="other", ClientToken="token")
        with self.assertRaises(client().exceptions.InvalidExportTimeException):
            client().export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket", ExportTime=1)
        with self.assertRaises(client().exceptions.ExportNotFoundException):
            client().describe_export(ExportArn=arn + "/export/01700000000000-0123abcd")
        client().delete_table(TableName="exported")


class Items(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        create("items", "N")
        cls.table = resource().Table("items")

    @classmethod
    def tearDownClass(cls):
        client().delete_table(TableName="items")

    def test_every_type_comes_back_as_it_went(self):
        item = {
            "pk": "types", "sk": decimal.Decimal("-12.5"), "text": "Zürich \u0000\u001f\U0001f600 \"\\/",
            "empty": "", "digits": decimal.Decimal("12345678901234567890123456789012345678"),
            "small": decimal.Decimal("1E-130"), "yes": True, "none": None, "bytes": b"\x00\xff\x80",
            "texts": {"a", "b"}, "numbers": {decimal.Decimal(1), decimal.Decimal("2.5")},
            "blobs": {b"\x00", b"\x01"}, "list": [1, "two", [True, None, {}]],
            "map": {"a.b": {"#c": [decimal.Decimal(3)]}},
        }
        self.table.put_item(Item=item)
        found = self.table.get_item(Key={"pk": "types", "sk": decimal.Decimal("-12.50")}, ConsistentRead=True)
        # boto3 returns bytes as a class of its own.
        self.assertEqual(found["Item"], {**item, "bytes": boto3.dynamodb.types.Binary(b"\x00\xff\x80"),
                                         "blobs": {boto3.dynamodb.types.Binary(b"\x00"),
                                                   boto3.dynamodb.types.Binary(b"\x01")}})

    def test_what_is_missing_is_not_in_the_reply(self):
        self.assertNotIn("Item", self.table.get_item(Key={"pk": "nobody", "sk": 1}))

    def test_updates_return_what_was_asked_for(self):
        key = {"pk": "update", "sk": 1}
        reply = self.table.update_item(
            Key=key, UpdateExpression="SET #c = if_not_exists(#c, :zero) + :one, tags = :tags ADD seen :seen",
            ExpressionAttributeNames={"#c": "count"},
            ExpressionAttributeValues={":zero": 0, ":one": 1, ":tags": ["a"], ":seen": {"x"}},
            ReturnValues="ALL_NEW")
        self.assertEqual(reply["Attributes"],
                         {**key, "count": 1, "tags": ["a"], "seen": {"x"}})
        reply = self.table.update_item(
            Key=key, UpdateExpression="SET tags = list_append(tags, :more) REMOVE seen",
            ExpressionAttributeValues={":more": ["b"]}, ReturnValues="UPDATED_OLD")
        self.assertEqual(reply["Attributes"], {"tags": ["a"], "seen": {"x"}})
        reply = self.table.delete_item(Key=key, ReturnValues="ALL_OLD")
        self.assertEqual(reply["Attributes"], {**key, "count": 1, "tags": ["a", "b"]})

    def test_legacy_parameters_work(self):
        key = {"pk": "legacy", "sk": 1}
        self.table.update_item(Key=key, AttributeUpdates={"n": {"Action": "ADD", "Value": 5},
                                                          "s": {"Action": "PUT", "Value": "x"}})
        with self.assertRaises(ClientError) as raised:
            self.table.put_item(Item={**key, "n": 0}, Expected={"n": {"Value": 4}})
        self.assertEqual(code_of(raised), "ConditionalCheckFailedException")
        found = self.table.query(KeyConditions={
            "pk": {"AttributeValueList": ["legacy"], "ComparisonOperator": "EQ"}})["Items"]
        self.assertEqual(found, [{**key, "n": 5, "s": "x"}])

    def test_a_failed_condition_is_told(self):
        self.table.put_item(Item={"pk": "condition", "sk": 1, "v": 1})
        with self.assertRaises(ClientError) as raised:
            self.table.put_item(Item={"pk": "condition", "sk": 1, "v": 2},
                                ConditionExpression=Attr("pk").not_exists())
        self.assertEqual(code_of(raised), "ConditionalCheckFailedException")
        self.assertEqual(raised.exception.response["Error"]["Message"], "The conditional request failed")

    def test_bad_input_is_a_validation_exception(self):
        for call in (
                lambda: self.table.put_item(Item={"pk": "no sort key"}),
                lambda: self.table.put_item(Item={"pk": "", "sk": 1}),
                lambda: self.table.get_item(Key={"pk": "x", "sk": "not a number"}),
                lambda: self.table.update_item(Key={"pk": "x", "sk": 1}, UpdateExpression="SET pk = :v",
                                               ExpressionAttributeValues={":v": "y"}),
                lambda: self.table.query(KeyConditionExpression="sk = :v",
                                         ExpressionAttributeValues={":v": 1}),
        ):
            with self.assertRaises(ClientError) as raised:
                call()
            self.assertEqual(code_of(raised), "ValidationException", raised.exception)

    def test_errors_have_the_services_texts(self):
        """Programs compare these messages, so nothing of ours may be in them."""
        name, key = self.table.name, {"pk": {"S": "p"}, "sk": {"N": "1"}}
        counted = "1 validation error detected: "
        ask = client()
        for call, text in (
                (lambda: ask.get_item(TableName="missing", Key=key), "Requested resource not found"),
                (lambda: ask.describe_table(TableName="missing"),
                 "Requested resource not found: Table: missing not found"),
                (lambda: ask.get_item(TableName="", Key=key),
                 counted + "Value '' at 'tableName' failed to satisfy constraint: "
                 "Member must have length greater than or equal to 1"),
                (lambda: ask.get_item(TableName=name, Key={"pk": {"S": "p"}}),
                 "The provided key element does not match the schema"),
                (lambda: ask.put_item(TableName=name, Item={"pk": {"S": "p"}}),
                 "One or more parameter values were invalid: Missing the key sk in the item"),
                (lambda: ask.put_item(TableName=name, Item={**key, "v": {"SS": []}}),
                 counted + "One or more parameter values were invalid: An string set  may not be empty"),
                (lambda: ask.put_item(TableName=name, Item={**key, "v": {"S": "x" * 409_600}}),
                 "Item size has exceeded the maximum allowed size"),
                (lambda: ask.scan(TableName=name, FilterExpression="size = :v",
                                  ExpressionAttributeValues={":v": {"S": "x"}}),
                 "Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: size"),
                (lambda: ask.update_item(TableName=name, Key=key, UpdateExpression="SET a = gone + :n",
                                         ExpressionAttributeValues={":n": {"N": "1"}}),
                 "The provided expression refers to an attribute that does not exist in the item"),
                (lambda: ask.query(TableName=name, IndexName="nothing", KeyConditionExpression="pk = :p",
                                   ExpressionAttributeValues={":p": {"S": "p"}}),
                 "The table does not have the specified index: nothing"),
                (lambda: ask.query(TableName=name, KeyConditionExpression="pk = :p", Limit="1",
                                   ExpressionAttributeValues={":p": {"S": "p"}}),
                 "STRING_VALUE cannot be converted to Integer"),
        ):
            self.table.put_item(Item={"pk": "p", "sk": 1})
            with self.assertRaises(ClientError) as raised:
                call()
            self.assertEqual(raised.exception.response["Error"]["Message"], text)

    def test_capacity_is_accounted(self):
        reply = self.table.put_item(Item={"pk": "capacity", "sk": 1, "x": "x" * 1500},
                                    ReturnConsumedCapacity="TOTAL")
        self.assertEqual(reply["ConsumedCapacity"]["CapacityUnits"], 2.0)


class Pages(unittest.TestCase):
    COUNT = 300

    @classmethod
    def setUpClass(cls):
        create("pages", "N", more_types=[{"AttributeName": "parity", "AttributeType": "S"}],
               GlobalSecondaryIndexes=[{
                   "IndexName": "by-parity",
                   "KeySchema": [{"AttributeName": "parity", "KeyType": "HASH"},
                                 {"AttributeName": "sk", "KeyType": "RANGE"}],
                   "Projection": {"ProjectionType": "KEYS_ONLY"}}])
        cls.table = resource().Table("pages")
        with cls.table.batch_writer() as batch:
            for number in range(cls.COUNT):
                batch.put_item(Item={"pk": "all", "sk": number, "parity": "odd" if number % 2 else "even"})

    @classmethod
    def tearDownClass(cls):
        client().delete_table(TableName="pages")

    def test_pages_of_a_query_join_to_all(self):
        pages = client().get_paginator("query").paginate(
            TableName="pages", KeyConditionExpression="pk = :all",
            ExpressionAttributeValues={":all": {"S": "all"}}, PaginationConfig={"PageSize": 70})
        numbers = [int(item["sk"]["N"]) for page in pages for item in page["Items"]]
        self.assertEqual(numbers, list(range(self.COUNT)))

    def test_backwards_with_a_filter_from_an_index(self):
        reply = self.table.query(
            IndexName="by-parity", ScanIndexForward=False,
            KeyConditionExpression=Key("parity").eq("odd") & Key("sk").between(100, 200))
        self.assertEqual([item["sk"] for item in reply["Items"]], list(range(199, 100, -2)))
        reply = self.table.query(KeyConditionExpression=Key("pk").eq("all") & Key("sk").gte(290),
                                 FilterExpression=Attr("parity").eq("even"))
        self.assertEqual((reply["Count"], reply["ScannedCount"]), (5, 10))

    def test_segments_of_a_scan_are_all_items_once(self):
        numbers = []
        for segment in range(4):
            pages = client().get_paginator("scan").paginate(
                TableName="pages", Segment=segment, TotalSegments=4, PaginationConfig={"PageSize": 50})
            numbers += [int(item["sk"]["N"]) for page in pages for item in page["Items"]]
        self.assertEqual(sorted(numbers), list(range(self.COUNT)))

    def test_a_count_has_no_items(self):
        reply = self.table.query(KeyConditionExpression=Key("pk").eq("all"), Select="COUNT")
        self.assertEqual(reply["Count"], self.COUNT)
        self.assertNotIn("Items", reply)

    def test_batches_are_read_in_one_request(self):
        keys = [{"pk": "all", "sk": number} for number in range(100)]
        reply = resource().batch_get_item(RequestItems={"pages": {"Keys": keys}})
        self.assertEqual(len(reply["Responses"]["pages"]), 100)
        self.assertEqual(reply["UnprocessedKeys"], {})


class Transactions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        create("accounts")

    @classmethod
    def tearDownClass(cls):
        client().delete_table(TableName="accounts")

    def setUp(self):
        for name, balance in (("a", "100"), ("b", "50")):
            client().put_item(TableName="accounts", Item={"pk": {"S": name}, "balance": {"N": balance}})

    @staticmethod
    def move(amount, **more):
        def update(name, sign, condition):
            return {"Update": {
                "TableName": "accounts", "Key": {"pk": {"S": name}},
                "UpdateExpression": f"SET balance = balance {sign} :amount", **condition,
                "ExpressionAttributeValues": {":amount": {"N": str(amount)}}}}
        return client().transact_write_items(
            TransactItems=[update("a", "-", {"ConditionExpression": "balance >= :amount"}),
                           update("b", "+", {})], **more)

    @staticmethod
    def balances():
        reply = client().transact_get_items(TransactItems=[
            {"Get": {"TableName": "accounts", "Key": {"pk": {"S": name}}}} for name in ("a", "b")])
        return [int(response["Item"]["balance"]["N"]) for response in reply["Responses"]]

    def test_both_or_none(self):
        self.move(30)
        self.assertEqual(self.balances(), [70, 80])
        with self.assertRaises(ClientError) as raised:
            self.move(71)
        error = raised.exception.response
        self.assertEqual(error["Error"]["Code"], "TransactionCanceledException")
        self.assertEqual([reason["Code"] for reason in error["CancellationReasons"]],
                         ["ConditionalCheckFailed", "None"])
        self.assertEqual(
            error["Error"]["Message"],
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[ConditionalCheckFailed, None]")
        self.assertEqual(self.balances(), [70, 80])

    def test_a_token_makes_it_once(self):
        self.move(10, ClientRequestToken="once-only")
        self.move(10, ClientRequestToken="once-only")
        self.assertEqual(self.balances(), [90, 60])
        with self.assertRaises(ClientError) as raised:
            self.move(11, ClientRequestToken="once-only")
        self.assertEqual(code_of(raised), "IdempotentParameterMismatchException")


class Streams(unittest.TestCase):
    """Streams read with boto3: view types, events, retention, iterators, limits, ids and order (SEM-101..107)."""

    @staticmethod
    @functools.cache
    def streams():
        return boto3.client("dynamodbstreams", endpoint_url=ENDPOINT, config=CONFIG)

    def read(self, arn):
        """All records from the oldest on, shard after shard, until there are no more at present."""
        records = []
        description = self.streams().describe_stream(StreamArn=arn)["StreamDescription"]
        for shard in description["Shards"]:
            iterator = self.streams().get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            while iterator:
                page = self.streams().get_records(ShardIterator=iterator, Limit=3)
                records += page["Records"]
                iterator = page.get("NextShardIterator")
                if not page["Records"]:
                    break
        return records

    def test_a_stream_is_read_from_its_beginning(self):
        table = create("streamed", StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        arn = table["LatestStreamArn"]
        self.assertEqual(arn, f"{table['TableArn']}/stream/{table['LatestStreamLabel']}")
        for n in range(5):
            client().put_item(TableName="streamed", Item={"pk": {"S": "a"}, "n": {"N": str(n)}})
        client().transact_write_items(TransactItems=[
            {"Put": {"TableName": "streamed", "Item": {"pk": {"S": "b"}}}},
            {"Delete": {"TableName": "streamed", "Key": {"pk": {"S": "a"}}}}])
        records = self.read(arn)
        self.assertEqual([(r["eventName"], r["dynamodb"]["Keys"]["pk"]["S"]) for r in records],
                         [("INSERT", "a")] + 4 * [("MODIFY", "a")] + [("INSERT", "b"), ("REMOVE", "a")])
        self.assertEqual(records[1]["dynamodb"]["OldImage"]["n"], {"N": "0"})
        self.assertEqual(records[1]["dynamodb"]["NewImage"]["n"], {"N": "1"})
        numbers = [int(r["dynamodb"]["SequenceNumber"]) for r in records]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(len({r["eventID"] for r in records}), len(records))
        self.assertEqual(records[0]["eventSource"], "aws:dynamodb")
        self.assertIn(arn, [s["StreamArn"] for s in self.streams().list_streams()["Streams"]])

    def test_a_stream_is_enabled_and_disabled(self):
        create("toggled")
        enabled = client().update_table(TableName="toggled", StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})["TableDescription"]
        client().put_item(TableName="toggled", Item={"pk": {"S": "a"}})
        with self.assertRaises(ClientError) as raised:
            client().update_table(TableName="toggled", StreamSpecification={
                "StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        self.assertEqual(code_of(raised), "ValidationException")
        client().update_table(TableName="toggled", StreamSpecification={"StreamEnabled": False})
        client().delete_table(TableName="toggled")
        self.assertEqual(len(self.read(enabled["LatestStreamArn"])), 1)

    def test_an_item_that_expires_is_removed_by_the_service(self):
        """Time to live (SEM-108, SEM-111, OP-11, OP-12), and the stream record of an expired item (SEM-102)."""
        arn = create("expiring", StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "OLD_IMAGE"})["LatestStreamArn"]
        on = {"Enabled": True, "AttributeName": "expires"}
        described = client().describe_time_to_live(TableName="expiring")["TimeToLiveDescription"]
        self.assertEqual(described, {"TimeToLiveStatus": "DISABLED"})
        reply = client().update_time_to_live(TableName="expiring", TimeToLiveSpecification=on)
        self.assertEqual(reply["TimeToLiveSpecification"], on)
        with self.assertRaises(ClientError) as raised:
            client().update_time_to_live(TableName="expiring", TimeToLiveSpecification=on)
        self.assertEqual(code_of(raised), "ValidationException")
        self.assertIn("TimeToLive is already enabled", str(raised.exception))
        now = int(time.time())
        for key, expires in (("stays", now + 100_000), ("goes", now - 1)):
            client().put_item(TableName="expiring", Item={"pk": {"S": key}, "expires": {"N": str(expires)}})
        key = {"pk": {"S": "goes"}}
        for _ in range(3_600):
            if "Item" not in client().get_item(TableName="expiring", Key=key):
                break
            time.sleep(0.05)
        described = client().describe_time_to_live(TableName="expiring")["TimeToLiveDescription"]
        self.assertEqual(described, {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"})
        client().delete_item(TableName="expiring", Key={"pk": {"S": "stays"}})
        expired, deleted = [r for r in self.read(arn) if r["eventName"] == "REMOVE"]
        self.assertEqual(expired["dynamodb"]["Keys"], key)
        self.assertEqual(expired["dynamodb"]["OldImage"]["expires"], {"N": str(now - 1)})
        self.assertEqual(expired["userIdentity"],
                         {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"})
        self.assertNotIn("userIdentity", deleted)
        client().update_time_to_live(TableName="expiring", TimeToLiveSpecification={**on, "Enabled": False})

    def test_errors_are_exceptions(self):
        streams = self.streams()
        arn = create("erring", StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})["LatestStreamArn"]
        with self.assertRaises(streams.exceptions.ResourceNotFoundException):
            streams.describe_stream(StreamArn=arn[:-3] + "xyz")
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        with self.assertRaises(ClientError) as raised:
            streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="AT_SEQUENCE_NUMBER",
                                       SequenceNumber=21 * "9")
        self.assertEqual(code_of(raised), "ValidationException")


if __name__ == "__main__":
    unittest.main(verbosity=2)
