#!/usr/bin/python3
"""The requests that Terraform's resource aws_dynamodb_table makes of a table in its life.

The requests are written from the documentation of the resource and of DynamoDB's API; Terraform itself is not needed.
`Table` turns the arguments of the resource into requests, as an apply does, and replies back into arguments, as a
refresh does. After each apply a second plan must be empty: the arguments that are read are those that were applied.

`replica` and `global_table_witness` are refused by name (one machine).
"""

import copy
import gzip
import http.client
import json
import os
import time
import unittest
import urllib.parse

ENDPOINT = urllib.parse.urlparse(os.environ["AWS_ENDPOINT_URL_DYNAMODB"])
HEADERS = {"Content-Type": "application/x-amz-json-1.0",
           "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/dynamodb/aws4_request, "
                            "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64,
           "X-Amz-Date": "20260101T000000Z"}


class Refused(Exception):
    pass


def call(operation, request):
    connection = http.client.HTTPConnection(ENDPOINT.hostname, ENDPOINT.port, timeout=60)
    connection.request("POST", "/", json.dumps(request), {**HEADERS, "X-Amz-Target": "DynamoDB_20120810." + operation})
    reply = connection.getresponse()
    # TagResource and UntagResource are answered without a body.
    body = json.loads(reply.read() or b"{}")
    connection.close()
    if reply.status != 200:
        raise Refused(body["__type"].split("#")[1], body.get("message"), operation, request)
    return body


def without_empty(members):
    return {name: value for name, value in members.items() if value not in (None, [], {}, "")}


# ---- arguments to requests


def capacity(arguments):
    if "read_capacity" not in arguments:
        return None
    return {"ReadCapacityUnits": arguments["read_capacity"], "WriteCapacityUnits": arguments["write_capacity"]}


def on_demand(arguments):
    given = arguments.get("on_demand_throughput")
    return given and {"MaxReadRequestUnits": given["max_read_request_units"],
                      "MaxWriteRequestUnits": given["max_write_request_units"]}


def warm(arguments):
    given = arguments.get("warm_throughput")
    return given and {"ReadUnitsPerSecond": given["read_units_per_second"],
                      "WriteUnitsPerSecond": given["write_units_per_second"]}


def projection(index):
    return without_empty({"ProjectionType": index["projection_type"],
                          "NonKeyAttributes": index.get("non_key_attributes")})


def key_schema(hash_keys, range_keys):
    return ([{"AttributeName": name, "KeyType": "HASH"} for name in hash_keys] +
            [{"AttributeName": name, "KeyType": "RANGE"} for name in range_keys])


def global_index(index):
    return without_empty({"IndexName": index["name"], "KeySchema": key_schema(index["hash"], index["range"]),
                          "Projection": projection(index), "ProvisionedThroughput": capacity(index),
                          "OnDemandThroughput": on_demand(index), "WarmThroughput": warm(index)})


def local_index(table, index):
    return {"IndexName": index["name"], "KeySchema": key_schema([table["hash_key"]], [index["range_key"]]),
            "Projection": projection(index)}


def attribute_definitions(arguments):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in sorted(arguments["attribute"].items())]


def tags(given):
    return [{"Key": key, "Value": value} for key, value in sorted(given.items())]


def encryption(arguments):
    given = arguments.get("server_side_encryption")
    if given is None:
        return None
    if not given["enabled"]:
        return {"Enabled": False}
    return without_empty({"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": given.get("kms_key_arn")})


def stream(arguments):
    if not arguments.get("stream_enabled"):
        return {"StreamEnabled": False}
    return {"StreamEnabled": True, "StreamViewType": arguments["stream_view_type"]}


# ---- replies to arguments


def read_capacity(description, provisioned):
    if not provisioned:
        return {}
    throughput = description["ProvisionedThroughput"]
    return {"read_capacity": throughput["ReadCapacityUnits"], "write_capacity": throughput["WriteCapacityUnits"]}


def read_throughputs(description, wanted):
    """`warm_throughput` is read only if it is configured; otherwise the provider computes it."""
    result = {}
    if "OnDemandThroughput" in description:
        result["on_demand_throughput"] = {
            "max_read_request_units": description["OnDemandThroughput"]["MaxReadRequestUnits"],
            "max_write_request_units": description["OnDemandThroughput"]["MaxWriteRequestUnits"]}
    if "warm_throughput" in wanted:
        result["warm_throughput"] = {"read_units_per_second": description["WarmThroughput"]["ReadUnitsPerSecond"],
                                     "write_units_per_second": description["WarmThroughput"]["WriteUnitsPerSecond"]}
    return result


def keys_of(description, kind):
    return [key["AttributeName"] for key in description["KeySchema"] if key["KeyType"] == kind]


def read_index(description):
    result = {"name": description["IndexName"], "projection_type": description["Projection"]["ProjectionType"]}
    if "NonKeyAttributes" in description["Projection"]:
        result["non_key_attributes"] = sorted(description["Projection"]["NonKeyAttributes"])
    return result


class Table:
    """One resource. `arguments` is what was applied last."""

    def __init__(self, arguments):
        self.arguments = copy.deepcopy(arguments)
        self.name = arguments["name"]

    def describe(self):
        return call("DescribeTable", {"TableName": self.name})["Table"]

    def wait(self):
        for _ in range(600):
            table = self.describe()
            # An index of a table that is being restored has no status.
            states = [table["TableStatus"], *(index.get("IndexStatus") for index in
                                              table.get("GlobalSecondaryIndexes", []))]
            if set(states) == {"ACTIVE"}:
                return table
            time.sleep(0.1)
        raise AssertionError(states)

    def wait_for_time_to_live(self, status):
        for _ in range(600):
            if call("DescribeTimeToLive", {"TableName": self.name})["TimeToLiveDescription"]["TimeToLiveStatus"] == status:
                return
            time.sleep(0.1)
        raise AssertionError(status)

    def create(self):
        wanted = self.arguments
        if "import_table" in wanted:
            self.start_import(wanted["import_table"])
        elif CREATES_FROM & {*wanted}:
            self.start_restore()
        else:
            self.start_empty()
        table = self.wait()
        if "ttl" in wanted:
            self.set_time_to_live(wanted["ttl"])
        if wanted.get("point_in_time_recovery", {}).get("enabled"):
            self.set_recovery()
        if CREATES_FROM & {*wanted} and wanted.get("tags"):
            call("TagResource", {"ResourceArn": table["TableArn"], "Tags": tags(wanted["tags"])})

    def start_empty(self):
        wanted = self.arguments
        call("CreateTable", without_empty({
            "TableName": self.name, "BillingMode": wanted["billing_mode"],
            "KeySchema": key_schema([wanted["hash_key"]], [wanted["range_key"]]),
            "AttributeDefinitions": attribute_definitions(wanted), "ProvisionedThroughput": capacity(wanted),
            "LocalSecondaryIndexes": [local_index(wanted, index) for index in wanted.get("local_secondary_index", [])],
            "GlobalSecondaryIndexes": [global_index(index) for index in wanted.get("global_secondary_index", [])],
            "StreamSpecification": stream(wanted) if "stream_enabled" in wanted else None,
            "SSESpecification": encryption(wanted), "TableClass": wanted.get("table_class"),
            "OnDemandThroughput": on_demand(wanted), "WarmThroughput": warm(wanted),
            "DeletionProtectionEnabled": wanted.get("deletion_protection_enabled"),
            "Tags": tags(wanted.get("tags", {}))}))

    def start_import(self, given):
        wanted = self.arguments
        options = given.get("input_format_options")
        started = call("ImportTable", without_empty({
            "InputFormat": given["input_format"], "InputCompressionType": given.get("input_compression_type"),
            "InputFormatOptions": options and {"Csv": {"Delimiter": options["csv"]["delimiter"],
                                                       "HeaderList": options["csv"]["header_list"]}},
            "S3BucketSource": without_empty({"S3Bucket": given["s3_bucket_source"]["bucket"],
                                             "S3KeyPrefix": given["s3_bucket_source"].get("key_prefix")}),
            "TableCreationParameters": without_empty({
                "TableName": self.name, "BillingMode": wanted["billing_mode"],
                "KeySchema": key_schema([wanted["hash_key"]], [wanted["range_key"]]),
                "AttributeDefinitions": attribute_definitions(wanted), "ProvisionedThroughput": capacity(wanted),
                "OnDemandThroughput": on_demand(wanted), "SSESpecification": encryption(wanted),
                "GlobalSecondaryIndexes": [global_index(index)
                                           for index in wanted.get("global_secondary_index", [])]})}))
        arn = started["ImportTableDescription"]["ImportArn"]
        for _ in range(600):
            status = call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]["ImportStatus"]
            if status != "IN_PROGRESS":
                break
            time.sleep(0.1)
        assert status == "COMPLETED", status

    def start_restore(self):
        wanted = self.arguments
        overrides = without_empty({
            "TargetTableName": self.name, "BillingModeOverride": wanted["billing_mode"],
            "GlobalSecondaryIndexOverride": [global_index(index) for index in wanted.get("global_secondary_index", [])],
            "LocalSecondaryIndexOverride": [local_index(wanted, index)
                                            for index in wanted.get("local_secondary_index", [])],
            "ProvisionedThroughputOverride": capacity(wanted), "OnDemandThroughputOverride": on_demand(wanted),
            "SSESpecificationOverride": encryption(wanted)})
        if "restore_backup_arn" in wanted:
            call("RestoreTableFromBackup", {"BackupArn": wanted["restore_backup_arn"], **overrides})
            return
        call("RestoreTableToPointInTime", without_empty({
            "SourceTableName": wanted.get("restore_source_name"),
            "SourceTableArn": wanted.get("restore_source_table_arn"),
            "UseLatestRestorableTime": wanted.get("restore_to_latest_time"),
            "RestoreDateTime": wanted.get("restore_date_time"), **overrides}))

    def set_recovery(self):
        given = self.arguments.get("point_in_time_recovery", {"enabled": False})
        call("UpdateContinuousBackups", {"TableName": self.name, "PointInTimeRecoverySpecification": without_empty({
            "PointInTimeRecoveryEnabled": given["enabled"],
            "RecoveryPeriodInDays": given.get("recovery_period_in_days")})})

    def set_time_to_live(self, given):
        call("UpdateTimeToLive", {"TableName": self.name, "TimeToLiveSpecification": {
            "AttributeName": given["attribute_name"], "Enabled": given["enabled"]}})
        self.wait_for_time_to_live("ENABLED" if given["enabled"] else "DISABLED")

    def refresh(self):
        """What a refresh, and an import, reads."""
        table = self.wait()
        backups = call("DescribeContinuousBackups", {"TableName": self.name})["ContinuousBackupsDescription"]
        time_to_live = call("DescribeTimeToLive", {"TableName": self.name})["TimeToLiveDescription"]
        listed = call("ListTagsOfResource", {"ResourceArn": table["TableArn"]})["Tags"]
        # The resources for these features are read beside the table.
        insights = call("DescribeContributorInsights", {"TableName": self.name})
        kinesis = call("DescribeKinesisStreamingDestination", {"TableName": self.name})
        assert insights["ContributorInsightsStatus"] == "DISABLED", insights
        assert kinesis["KinesisDataStreamDestinations"] == [], kinesis
        recovery = backups["PointInTimeRecoveryDescription"]
        provisioned = table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED") == "PROVISIONED"
        wanted_indexes = {index["name"]: index for index in self.arguments.get("global_secondary_index", [])}
        state = {
            "name": table["TableName"],
            "billing_mode": "PROVISIONED" if provisioned else "PAY_PER_REQUEST",
            "hash_key": keys_of(table, "HASH")[0], "range_key": keys_of(table, "RANGE")[0],
            "attribute": {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]},
            **read_capacity(table, provisioned), **read_throughputs(table, self.arguments),
            "table_class": table.get("TableClassSummary", {}).get("TableClass", "STANDARD"),
            "deletion_protection_enabled": table["DeletionProtectionEnabled"],
            "stream_enabled": table.get("StreamSpecification", {}).get("StreamEnabled", False),
            "tags": {tag["Key"]: tag["Value"] for tag in listed},
            "point_in_time_recovery": {"enabled": recovery["PointInTimeRecoveryStatus"] == "ENABLED"},
            "ttl": {"enabled": time_to_live["TimeToLiveStatus"] == "ENABLED",
                    "attribute_name": time_to_live.get("AttributeName", "")},
            "local_secondary_index": [{**read_index(index), "range_key": keys_of(index, "RANGE")[0]}
                                      for index in table.get("LocalSecondaryIndexes", [])],
            "global_secondary_index": [
                {**read_index(index), "hash": keys_of(index, "HASH"), "range": keys_of(index, "RANGE"),
                 **read_capacity(index, provisioned),
                 **read_throughputs(index, wanted_indexes.get(index["IndexName"], {}))}
                for index in table.get("GlobalSecondaryIndexes", [])],
        }
        # Like `warm_throughput`.
        if "recovery_period_in_days" in self.arguments.get("point_in_time_recovery", {}):
            state["point_in_time_recovery"]["recovery_period_in_days"] = recovery["RecoveryPeriodInDays"]
        if state["stream_enabled"]:
            state["stream_view_type"] = table["StreamSpecification"]["StreamViewType"]
            assert table["LatestStreamArn"].startswith(table["TableArn"] + "/stream/")
        if "SSEDescription" in table:
            state["server_side_encryption"] = without_empty({
                "enabled": table["SSEDescription"]["Status"] == "ENABLED",
                "kms_key_arn": table["SSEDescription"].get("KMSMasterKeyArn")})
        return state

    def plan(self):
        """The arguments that differ from those that were applied: {argument: (applied, read)}."""
        defaults = {"table_class": "STANDARD", "deletion_protection_enabled": False, "stream_enabled": False, "tags": {},
                    "point_in_time_recovery": {"enabled": False}, "ttl": {"enabled": False, "attribute_name": ""},
                    "local_secondary_index": [], "global_secondary_index": []}
        wanted = {**defaults, **{name: value for name, value in self.arguments.items() if name not in CREATES_FROM}}
        if not wanted["ttl"]["enabled"]:
            wanted["ttl"] = defaults["ttl"]
        if not wanted.get("server_side_encryption", {"enabled": False})["enabled"]:
            wanted.pop("server_side_encryption", None)
        state = self.refresh()
        for arguments in (wanted, state):
            for indexes in ("local_secondary_index", "global_secondary_index"):
                arguments[indexes] = sorted(arguments[indexes], key=lambda index: index["name"])
        return {name: (wanted.get(name), state.get(name)) for name in {*wanted, *state}
                if wanted.get(name) != state.get(name)}

    def update_table(self, **members):
        call("UpdateTable", {"TableName": self.name, **members})
        self.wait()

    def change(self, **changes):
        """Applies changed arguments; None removes one."""
        before, wanted = self.arguments, {**self.arguments, **copy.deepcopy(changes)}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        self.arguments = wanted
        changed = {name for name in {*before, *wanted} if before.get(name) != wanted.get(name)}
        if changed & {"billing_mode", "read_capacity", "write_capacity"}:
            indexes = [{"Update": {"IndexName": index["name"], "ProvisionedThroughput": capacity(index)}}
                       for index in wanted.get("global_secondary_index", [])
                       if "billing_mode" in changed and capacity(index)]
            self.update_table(**without_empty({
                "BillingMode": wanted["billing_mode"], "ProvisionedThroughput": capacity(wanted),
                "GlobalSecondaryIndexUpdates": indexes}))
        self.change_indexes(before, wanted, "billing_mode" in changed)
        if "table_class" in changed:
            self.update_table(TableClass=wanted.get("table_class", "STANDARD"))
        if changed & {"stream_enabled", "stream_view_type"}:
            if before.get("stream_enabled") and wanted.get("stream_enabled"):
                self.update_table(StreamSpecification={"StreamEnabled": False})
            self.update_table(StreamSpecification=stream(wanted))
        if "server_side_encryption" in changed:
            self.update_table(SSESpecification=encryption(wanted) or {"Enabled": False})
        if "ttl" in changed:
            self.set_time_to_live(wanted.get("ttl") or {**before["ttl"], "enabled": False})
        if "point_in_time_recovery" in changed:
            self.set_recovery()
        if "deletion_protection_enabled" in changed:
            self.update_table(DeletionProtectionEnabled=wanted.get("deletion_protection_enabled", False))
        if "on_demand_throughput" in changed:
            self.update_table(OnDemandThroughput=on_demand(wanted) or {
                "MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1})
        if "warm_throughput" in changed and warm(wanted):
            self.update_table(WarmThroughput=warm(wanted))
        if "tags" in changed:
            arn = self.describe()["TableArn"]
            removed = sorted({*before.get("tags", {})} - {*wanted.get("tags", {})})
            if removed:
                call("UntagResource", {"ResourceArn": arn, "TagKeys": removed})
            if wanted.get("tags"):
                call("TagResource", {"ResourceArn": arn, "Tags": tags(wanted["tags"])})

    def change_indexes(self, before, wanted, capacity_is_set):
        """One UpdateTable for each index, as the service wants it."""
        old = {index["name"]: index for index in before.get("global_secondary_index", [])}
        new = {index["name"]: index for index in wanted.get("global_secondary_index", [])}
        fixed = ("hash", "range", "projection_type", "non_key_attributes")
        for name, index in old.items():
            if name not in new or any(index.get(key) != new[name].get(key) for key in fixed):
                self.update_table(GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name}}])
        for name, index in new.items():
            if name not in old or any(index.get(key) != old[name].get(key) for key in fixed):
                self.update_table(AttributeDefinitions=attribute_definitions(wanted),
                                  GlobalSecondaryIndexUpdates=[{"Create": global_index(index)}])
                continue
            for member, of in (("ProvisionedThroughput", capacity), ("OnDemandThroughput", on_demand),
                               ("WarmThroughput", warm)):
                if of(index) == of(old[name]) or of(index) is None or (of is capacity and capacity_is_set):
                    continue
                self.update_table(GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": name, member: of(index)}}])

    def destroy(self):
        call("DeleteTable", {"TableName": self.name})
        for _ in range(600):
            try:
                self.describe()
            except Refused as refused:
                assert refused.args[0] == "ResourceNotFoundException", refused
                return
            time.sleep(0.1)
        raise AssertionError("the table is still there")


# Arguments that say what a table is made of, and are not read.
CREATES_FROM = {"import_table", "restore_source_name", "restore_source_table_arn", "restore_to_latest_time",
                "restore_date_time", "restore_backup_arn"}
# A bucket is a folder there (docs/backup.md).
BUCKETS = os.path.join(os.environ["HOME"], "data", "exports")

KEYS = {"hash_key": "pk", "range_key": "sk"}
ON_DEMAND = {
    "name": "on-demand", "billing_mode": "PAY_PER_REQUEST", **KEYS,
    "attribute": {"pk": "S", "sk": "N", "a": "S", "b": "B", "c": "N"},
    "on_demand_throughput": {"max_read_request_units": 100, "max_write_request_units": 50},
    "warm_throughput": {"read_units_per_second": 13000, "write_units_per_second": 5000},
    "local_secondary_index": [
        {"name": "local", "range_key": "a", "projection_type": "INCLUDE", "non_key_attributes": ["x", "y"]}],
    "global_secondary_index": [
        {"name": "one", "hash": ["a"], "range": ["sk"], "projection_type": "ALL",
         "on_demand_throughput": {"max_read_request_units": 10, "max_write_request_units": 10},
         "warm_throughput": {"read_units_per_second": 12000, "write_units_per_second": 4000}},
        {"name": "several", "hash": ["a", "b"], "range": ["c", "sk"], "projection_type": "KEYS_ONLY"}],
    "stream_enabled": True, "stream_view_type": "NEW_AND_OLD_IMAGES",
    "server_side_encryption": {"enabled": True, "kms_key_arn": "arn:aws:kms:eu-central-1:000000000000:key/k"},
    "table_class": "STANDARD_INFREQUENT_ACCESS", "deletion_protection_enabled": True,
    "ttl": {"enabled": True, "attribute_name": "until"},
    "point_in_time_recovery": {"enabled": False},
    "tags": {"team": "orders", "cost centre": "7 / b", "empty": ""},
}
PROVISIONED = {
    "name": "provisioned", "billing_mode": "PROVISIONED", **KEYS, "read_capacity": 5, "write_capacity": 6,
    "attribute": {"pk": "S", "sk": "N", "a": "S"},
    "global_secondary_index": [{"name": "one", "hash": ["a"], "range": [], "projection_type": "INCLUDE",
                                "non_key_attributes": ["x"], "read_capacity": 1, "write_capacity": 2}],
}


class Terraform(unittest.TestCase):
    """Terraform's aws_dynamodb_table: OP-01 to OP-12 of docs/rules.md, point-in-time recovery (OP-35, OP-36), and features that are not offered."""

    def created(self, arguments):
        table = Table(arguments)
        table.create()
        self.assertEqual(table.plan(), {})
        return table

    def test_an_on_demand_table(self):
        table = self.created(ON_DEMAND)
        more = {"name": "more", "hash": ["d"], "range": [], "projection_type": "ALL"}
        indexes = ON_DEMAND["global_secondary_index"]
        for change in (
                {"tags": {"team": "sales", "new": "x"}}, {"tags": None},
                {"ttl": {"enabled": False, "attribute_name": "until"}},
                {"ttl": {"enabled": True, "attribute_name": "other"}}, {"ttl": None},
                {"stream_view_type": "KEYS_ONLY"}, {"stream_enabled": False, "stream_view_type": None},
                {"stream_enabled": True, "stream_view_type": "NEW_IMAGE"},
                {"server_side_encryption": {"enabled": True}}, {"server_side_encryption": {"enabled": False}},
                {"server_side_encryption": None},
                {"table_class": None}, {"table_class": "STANDARD_INFREQUENT_ACCESS"},
                {"on_demand_throughput": {"max_read_request_units": 200, "max_write_request_units": 60}},
                {"warm_throughput": {"read_units_per_second": 14000, "write_units_per_second": 6000}},
                {"attribute": {**ON_DEMAND["attribute"], "d": "S"}, "global_secondary_index": [*indexes, more]},
                {"global_secondary_index": [{**indexes[0], "warm_throughput": {
                    "read_units_per_second": 12500, "write_units_per_second": 4500}}, indexes[1], more]},
                {"attribute": {"pk": "S", "sk": "N", "a": "S"}, "global_secondary_index": []},
                {"point_in_time_recovery": {"enabled": True}},
                {"point_in_time_recovery": {"enabled": True, "recovery_period_in_days": 7}},
                {"point_in_time_recovery": {"enabled": True, "recovery_period_in_days": 8}},
                {"point_in_time_recovery": None},
                {"deletion_protection_enabled": None},
        ):
            with self.subTest(change=change):
                table.change(**change)
                self.assertEqual(table.plan(), {})
        imported = Table(table.arguments)
        self.assertEqual(imported.plan(), {})
        table.destroy()

    def test_a_provisioned_table(self):
        table = self.created(PROVISIONED)
        index = PROVISIONED["global_secondary_index"][0]
        on_demand_index = {key: value for key, value in index.items() if not key.endswith("_capacity")}
        for change in (
                {"read_capacity": 7, "write_capacity": 8},
                {"global_secondary_index": [{**index, "read_capacity": 3, "write_capacity": 4}]},
                {"billing_mode": "PAY_PER_REQUEST", "read_capacity": None, "write_capacity": None,
                 "global_secondary_index": [on_demand_index]},
                {"billing_mode": "PROVISIONED", "read_capacity": 1, "write_capacity": 1,
                 "global_secondary_index": [index]},
                {"warm_throughput": {"read_units_per_second": 13000, "write_units_per_second": 5000}},
        ):
            with self.subTest(change=change):
                table.change(**change)
                self.assertEqual(table.plan(), {})
        table.destroy()

    def test_a_protected_table_is_not_destroyed(self):
        table = self.created({**PROVISIONED, "name": "protected", "deletion_protection_enabled": True})
        with self.assertRaises(Refused) as caught:
            table.destroy()
        self.assertEqual(caught.exception.args[0], "ValidationException")
        table.change(deletion_protection_enabled=False)
        table.destroy()

    def items(self, table):
        return sorted(item["pk"]["S"] for item in call("Scan", {"TableName": table.name})["Items"])

    def test_tables_that_are_imported(self):
        """`import_table`: OP-38 and OP-39."""
        os.makedirs(os.path.join(BUCKETS, "seeds"))
        items = [{"pk": {"S": pk}, "sk": {"N": "1"}, "a": {"S": "x"}} for pk in "pq"]
        with gzip.open(os.path.join(BUCKETS, "seeds", "json-1.gz"), "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"Item": item}) + "\n" for item in items)
        with open(os.path.join(BUCKETS, "seeds", "csv-1"), "w", encoding="utf-8") as file:
            file.write("r|2|y\ns|3|z\n")
        for name, more, given, expected in (
                ("json", {"tags": {"team": "orders"}, "ttl": {"enabled": True, "attribute_name": "until"},
                          "point_in_time_recovery": {"enabled": True, "recovery_period_in_days": 3}},
                 {"input_format": "DYNAMODB_JSON", "input_compression_type": "GZIP"}, ["p", "q"]),
                ("csv", {}, {"input_format": "CSV", "input_format_options": {
                    "csv": {"delimiter": "|", "header_list": ["pk", "sk", "a"]}}}, ["r", "s"])):
            with self.subTest(format=name):
                table = self.created({**PROVISIONED, **more, "name": "imported-" + name, "import_table": {
                    **given, "s3_bucket_source": {"bucket": "seeds", "key_prefix": name + "-"}}})
                self.assertEqual(self.items(table), expected)
                table.change(tags={"team": "sales"})
                self.assertEqual(table.plan(), {})
                table.destroy()

    def test_restored_tables(self):
        """`restore_source_name`, `restore_source_table_arn` and `restore_backup_arn`: OP-34 and OP-37."""
        source = self.created({**PROVISIONED, "name": "source", "point_in_time_recovery": {"enabled": True}})
        call("PutItem", {"TableName": "source", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}, "a": {"S": "x"}}})
        backup = call("CreateBackup", {"TableName": "source", "BackupName": "first"})["BackupDetails"]["BackupArn"]
        # Commits can be restored from the first backup of the archive on, which is made within 2 seconds. Times have
        # whole seconds.
        time.sleep(3)
        then = int(time.time())
        time.sleep(1.1)
        call("PutItem", {"TableName": "source", "Item": {"pk": {"S": "q"}, "sk": {"N": "1"}}})
        arn = source.describe()["TableArn"]
        on_demand_index = {"name": "one", "hash": ["a"], "range": [], "projection_type": "INCLUDE",
                           "non_key_attributes": ["x"]}
        changed = {"billing_mode": "PAY_PER_REQUEST", "read_capacity": None, "write_capacity": None,
                   "on_demand_throughput": {"max_read_request_units": 10, "max_write_request_units": 11},
                   "global_secondary_index": [on_demand_index], "tags": {"team": "orders"}}
        for place, (given, more, items) in enumerate((
                ({"restore_source_name": "source", "restore_to_latest_time": True}, {}, ["p", "q"]),
                ({"restore_source_name": "source", "restore_date_time": then}, {}, ["p"]),
                ({"restore_source_table_arn": arn, "restore_to_latest_time": True}, changed, ["p", "q"]),
                ({"restore_backup_arn": backup}, {}, ["p"]))):
            with self.subTest(given=given):
                arguments = {**PROVISIONED, **more, **given, "name": f"restored-{place}"}
                table = self.created({name: value for name, value in arguments.items() if value is not None})
                self.assertEqual(self.items(table), items)
                table.destroy()
        source.destroy()

    def test_replicas_are_refused_by_name(self):
        """`replica` and `global_table_witness`: one machine has none, and the table stays as it is."""
        table = self.created({**PROVISIONED, "name": "alone"})
        replica = [{"Create": {"RegionName": "eu-west-1"}}]
        for members, named in (
                ({"ReplicaUpdates": replica}, "ReplicaUpdates"),
                ({"ReplicaUpdates": replica, "MultiRegionConsistency": "STRONG"}, "MultiRegionConsistency"),
                ({"GlobalTableWitnessUpdates": replica, "MultiRegionConsistency": "STRONG"},
                 "GlobalTableWitnessUpdates")):
            with self.subTest(members=members):
                with self.assertRaises(Refused) as caught:
                    table.update_table(**members)
                self.assertEqual(caught.exception.args[0], "ValidationException")
                self.assertIn(named + " is not supported", caught.exception.args[1])
                self.assertEqual(table.plan(), {})
        table.destroy()

    def test_what_is_not_offered_is_an_unknown_operation(self):
        """OP-64: tools take UnknownOperationException for an endpoint that lacks a feature."""
        table = self.created({**PROVISIONED, "name": "plain"})
        for operation, request in (
                ("EnableKinesisStreamingDestination", {"TableName": "plain", "StreamArn": "arn:aws:kinesis:x:0:stream/s"}),
                ("PutResourcePolicy", {"ResourceArn": "arn:aws:dynamodb:x:0:table/plain", "Policy": "{}"}),
                ("DescribeTableReplicaAutoScaling", {})):
            with self.subTest(operation=operation):
                with self.assertRaises(Refused) as caught:
                    call(operation, request)
                self.assertEqual(caught.exception.args[0], "UnknownOperationException")
        table.destroy()


if __name__ == "__main__":
    unittest.main()
