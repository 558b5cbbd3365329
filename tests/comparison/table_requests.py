"""Random requests about tables, and requests of every other kind, with members that are removed or replaced."""

import copy
import random


def keys(hash_name, range_name=None):
    schema = [{"AttributeName": hash_name, "KeyType": "HASH"}]
    return schema + ([{"AttributeName": range_name, "KeyType": "RANGE"}] if range_name else [])


TABLES = [
    {"TableName": "Fixed", "KeySchema": keys("pk", "sk"), "BillingMode": "PAY_PER_REQUEST",
     "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "l")],
     "GlobalSecondaryIndexes": [{"IndexName": "ByGroup", "KeySchema": keys("g"), "Projection": {"ProjectionType": "ALL"}}],
     "LocalSecondaryIndexes": [{"IndexName": "ByLabel", "KeySchema": keys("pk", "l"),
                                "Projection": {"ProjectionType": "ALL"}}]},
    {"TableName": "Units", "KeySchema": keys("pk"), "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
     "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
]
NAMES = [table["TableName"] for table in TABLES]

KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}
OTHERS = [
    ("DescribeTable", {"TableName": "Fixed"}),
    ("DeleteTable", {"TableName": "Nope"}),
    ("ListTables", {"Limit": 5}),
    ("UpdateTimeToLive", {"TableName": "Nope", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}),
    ("DescribeTimeToLive", {"TableName": "Fixed"}),
    ("BatchGetItem", {"RequestItems": {"Fixed": {"Keys": [KEY], "ProjectionExpression": "a", "ConsistentRead": True}}}),
    ("BatchWriteItem", {"RequestItems": {"Nope": [{"PutRequest": {"Item": KEY}},
                                                  {"DeleteRequest": {"Key": {**KEY, "sk": {"S": "c"}}}}]}}),
    ("TransactWriteItems", {"ClientRequestToken": "x", "TransactItems": [
        {"ConditionCheck": {"TableName": "Fixed", "Key": KEY, "ConditionExpression": "attribute_exists(a)"}},
        {"Put": {"TableName": "Nope", "Item": {**KEY, "sk": {"S": "c"}}}}]}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "Fixed", "Key": KEY, "ProjectionExpression": "a"}}]}),
    ("BatchExecuteStatement", {"Statements": [
        {"Statement": "SELECT * FROM Fixed WHERE pk='a' AND sk='b'"},
        {"Statement": "SELECT * FROM Fixed WHERE pk=? AND sk=?", "Parameters": [{"S": "a"}, {"S": "c"}]}]}),
    ("ExecuteTransaction", {"TransactStatements": [
        {"Statement": "SELECT * FROM Fixed WHERE pk='a' AND sk='b'"},
        {"Statement": "SELECT * FROM Fixed WHERE pk=? AND sk=?", "Parameters": [{"S": "a"}, {"S": "c"}]}]}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM Fixed WHERE pk=?", "Parameters": [{"S": "a"}], "Limit": 5,
                          "ConsistentRead": True}),
    ("Query", {"TableName": "Fixed", "IndexName": "ByGroup", "KeyConditionExpression": "g = :g",
               "ExpressionAttributeValues": {":g": {"S": "a"}}, "Select": "COUNT", "ScanIndexForward": True, "Limit": 3}),
    ("Scan", {"TableName": "Fixed", "TotalSegments": 2, "Segment": 1, "ConsistentRead": True}),
    ("GetItem", {"TableName": "Fixed", "Key": KEY, "ReturnConsumedCapacity": "TOTAL"}),
]
# What takes the place of a member.
JUNK = ["", None, "x", "a" * 256, 0, -1, 5, 1.5, True, [], {}, ["a"], {"a": 1}, "HASH", "RANGE", "S", "B", "SS", "ALL", "pk",
        "ByGroup", "a b"]


def members(value, path=()):
    """The paths of everything inside."""
    found = [path] if path else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in inside:
        found += members(member, path + (name,))
    return found


class TableRequests:
    """`next()` returns an operation and its request. `compare.py` undoes what they do to tables."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def next(self):
        return self.random.choices([self.create, self.update, self.other], [3, 2, 4])[0]()

    def rare(self, part):
        return self.random.random() < part

    def projection(self):
        return self.random.choice([{"ProjectionType": "ALL"}, {"ProjectionType": "KEYS_ONLY"},
                                   {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]}])

    def with_mistakes(self, request):
        request = copy.deepcopy(request)
        for _ in range(self.random.randrange(1, 3)):
            paths = members(request)
            if not paths:
                break
            path = self.random.choice(paths)
            parent = request
            for name in path[:-1]:
                parent = parent[name]
            kind = self.random.random()
            if kind < .3:
                del parent[path[-1]]
            elif kind < .8:
                parent[path[-1]] = copy.deepcopy(self.random.choice(JUNK))
            elif kind < .9 and isinstance(parent, list):
                parent.append(copy.deepcopy(parent[path[-1]]))
            else:
                parent[path[-1]] = [parent[path[-1]]]
        return request

    def create(self):
        schema = keys("pk", self.random.choice([None, "sk"]))
        table = {"TableName": "Made", "KeySchema": schema}
        names = {element["AttributeName"] for element in schema}
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
        on_demand = self.rare(.5)
        table.update({"BillingMode": "PAY_PER_REQUEST"} if on_demand else {"ProvisionedThroughput": units})
        if self.rare(.5):
            table["GlobalSecondaryIndexes"] = []
            for number in range(self.random.randrange(1, 3)):
                index = {"IndexName": f"gsi{number}", "Projection": self.projection(),
                         "KeySchema": keys(self.random.choice(["g", "pk"]), self.random.choice([None, "h"]))}
                names |= {element["AttributeName"] for element in index["KeySchema"]}
                if not on_demand:
                    index["ProvisionedThroughput"] = units
                table["GlobalSecondaryIndexes"].append(index)
        if self.rare(.4) and len(schema) > 1:
            table["LocalSecondaryIndexes"] = [{"IndexName": "lsi", "KeySchema": keys("pk", "l"),
                                               "Projection": self.projection()}]
            names.add("l")
        table["AttributeDefinitions"] = [{"AttributeName": name, "AttributeType": self.random.choice("SN")}
                                         for name in sorted(names)]
        if self.rare(.2):
            view = self.random.choice(["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"])
            table["StreamSpecification"] = self.random.choice([{"StreamEnabled": True, "StreamViewType": view},
                                                               {"StreamEnabled": False}])
        if self.rare(.1):
            table["TableClass"] = self.random.choice(["STANDARD", "STANDARD_INFREQUENT_ACCESS"])
        if self.rare(.1):
            table["DeletionProtectionEnabled"] = False
        return "CreateTable", self.with_mistakes(table) if self.rare(.9) else table

    def update(self):
        request = {"TableName": self.random.choice(NAMES)}
        kind = self.random.randrange(7)
        if kind == 0:
            request["ProvisionedThroughput"] = {"ReadCapacityUnits": self.random.choice([5, 0]), "WriteCapacityUnits": 5}
        elif kind == 1:
            request["GlobalSecondaryIndexUpdates"] = [{"Create": {
                "IndexName": "ByGroup", "KeySchema": keys("g", self.random.choice([None, "h"])),
                "Projection": self.projection()}}]
            request["AttributeDefinitions"] = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")]
        elif kind == 2:
            request["GlobalSecondaryIndexUpdates"] = [{"Delete": {"IndexName": "nope"}}]
        elif kind == 3:
            request["GlobalSecondaryIndexUpdates"] = [{"Update": {
                "IndexName": "ByGroup", "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}]
        elif kind == 4:
            request["StreamSpecification"] = {"StreamEnabled": False}
        elif kind == 5:
            request["BillingMode"] = self.random.choice(["PROVISIONED", "X"])
        return "UpdateTable", self.with_mistakes(request) if self.rare(.6) else request

    def other(self):
        operation, request = self.random.choice(OTHERS)
        return operation, self.with_mistakes(request)
