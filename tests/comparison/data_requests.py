"""Random requests about items: most are right, some have a mistake in one place or another."""

import random

THINGS = "Things"
COUNTERS = "Counters"

TABLES = [
    {
        "TableName": THINGS,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind}
                                 for name, kind in (("pk", "S"), ("sk", "N"), ("g", "S"), ("h", "N"), ("l", "S"))],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {"IndexName": "ByGroup", "Projection": {"ProjectionType": "ALL"},
             "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "h", "KeyType": "RANGE"}]},
            {"IndexName": "KeysOfGroup", "Projection": {"ProjectionType": "KEYS_ONLY"},
             "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}],
        "LocalSecondaryIndexes": [
            {"IndexName": "ByLabel", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]},
             "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}]}],
    },
    {
        "TableName": COUNTERS,
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
]
KEYS = {THINGS: ("pk", "sk"), COUNTERS: ("id",)}

# Hash and range attribute of the table (None) and its indexes.
INDEX_KEYS = {None: ("pk", "sk"), "ByGroup": ("g", "h"), "KeysOfGroup": ("g", None), "ByLabel": ("pk", "l")}

# Attributes of items and paths; size, name and status are reserved words.
NAMES = ["a", "b", "m", "l", "s", "n", "g", "h", "pk", "sk", "size", "name", "status", "zz"]
RESERVED = ("size", "name", "status")

# What is no attribute value, or none that every engine takes.
WRONG_VALUES = [
    {}, {"S": "a", "N": "1"}, {"Q": "x"}, {"S": 5}, {"N": 1}, {"BOOL": "x"}, {"L": {}}, {"M": []}, None, "text",
    {"SS": "a"}, {"NULL": "x"}, {"S": None}, {"SS": [None]}, {"L": [None]}, {"M": {"a": None}}, {"N": " 1"}, {"N": "1 "},
    {"N": "+1"}, {"N": ".5"}, {"N": "5."}, {"N": "1e"}, {"N": "Infinity"}, {"N": "NaN"}, {"N": "0x1"}, {"N": "1_0"},
    {"N": "abc"}, {"N": ""}, {"N": "1e126"}, {"N": "1e-131"}, {"N": "123456789012345678901234567890123456789"}, {"B": "!"},
    {"NULL": False}, {"SS": []}, {"SS": ["a", "a"]}, {"NS": []}, {"NS": ["1", "1.0"]}, {"NS": ["x"]}, {"BS": []},
    {"BS": ["YQ==", "YQ=="]},
]
NUMBERS = ["0", "1", "-1", "5", "10", "3.14", "1e3", "-0", "007", "1.50", "0.1", "9" * 38, "1e125", "1E-130", "2", "3", "4"]
COMPARISONS = ["EQ", "NE", "IN", "LE", "LT", "GE", "GT", "BETWEEN", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS",
               "BEGINS_WITH"]


class Expression:
    """The texts of a request's expressions, and the placeholders that they use."""

    def __init__(self, requests):
        self.requests, self.random = requests, requests.random
        self.names, self.values = {}, {}

    def rare(self, part):
        return self.random.random() < part

    def name(self):
        name = self.random.choice(NAMES)
        if not (self.rare(.4) or (name in RESERVED and not self.rare(.1))):
            return name
        placeholder = self.random.choice(["#a", "#b", "#c", "#d"])
        if self.names.get(placeholder, name) != name:
            placeholder = "#" + name
        self.names[placeholder] = self.random.choice(["", "a" * 256]) if self.rare(.01) else name
        return placeholder

    def path(self):
        text = self.name()
        while self.rare(.3):
            text += self.random.choice(["." + self.name(), f"[{self.random.randrange(3)}]"])
        if self.rare(.01):
            text += self.random.choice(["[-1]", ".", "[a]", "[1", "..a", "[99999999999]"])
        return text

    def value(self):
        placeholder = self.random.choice([":a", ":b", ":c", ":d", ":e", ":f"])
        if not self.rare(.02):
            self.values.setdefault(placeholder, self.requests.value(1))
        return placeholder

    def operand(self, depth=0):
        kind = self.random.random()
        if kind < .45:
            return self.path()
        if kind < .9 or depth >= 2:
            return self.value()
        return f"size({self.operand(depth + 1) if self.rare(.1) else self.path()})"

    def condition(self, depth=0):
        kind = self.random.random()
        if depth < 3:
            if kind < .25:
                word = self.random.choice(["AND", "OR", "and", "or"])
                return f"{self.condition(depth + 1)} {word} {self.condition(depth + 1)}"
            if kind < .32:
                return f"NOT {self.condition(depth + 1)}"
            if kind < .4:
                return f"({self.condition(depth + 1)})" if not self.rare(.05) else f"(({self.condition(depth + 1)}))"
        function = self.random.randrange(9)
        if function <= 2:
            return f"{self.operand()} {self.random.choice(['=', '<>', '<', '<=', '>', '>='])} {self.operand()}"
        if function == 3:
            return f"{self.operand()} BETWEEN {self.operand()} AND {self.operand()}"
        if function == 4:
            return f"{self.operand()} IN ({', '.join(self.operand() for _ in range(self.random.randrange(1, 4)))})"
        if function == 5:
            return f"{self.random.choice(['attribute_exists', 'attribute_not_exists'])}({self.path()})"
        if function == 6:
            self.values[":t"] = {"S": self.random.choice(["S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL", "X"])}
            return f"attribute_type({self.path()}, :t)"
        return f"{'begins_with' if function == 7 else 'contains'}({self.operand()}, {self.operand()})"

    def set_value(self, depth=0):
        kind = self.random.random()
        if depth < 2 and kind < .2:
            return f"{self.set_value(depth + 1)} {self.random.choice('+-')} {self.set_value(depth + 1)}"
        if depth < 2 and kind < .4:
            return f"if_not_exists({self.path()}, {self.set_value(depth + 1)})"
        if depth < 2 and kind < .5:
            return f"list_append({self.set_value(depth + 1)}, {self.set_value(depth + 1)})"
        return self.path() if self.rare(.4) else self.value()

    def update(self):
        parts = []
        for word in self.random.sample(["SET", "REMOVE", "ADD", "DELETE"], self.random.randrange(1, 3)):
            actions = []
            for _ in range(self.random.randrange(1, 3)):
                if word == "SET":
                    actions.append(f"{self.path()} = {self.set_value()}")
                elif word == "REMOVE":
                    actions.append(self.path())
                else:
                    sets = [{"SS": ["a", "z"]}, {"NS": ["1", "9"]}, {"BS": ["YQ=="]}]
                    operands = sets + ([{"N": self.random.choice(NUMBERS)}] * 3 if word == "ADD" else [])
                    placeholder = self.random.choice([":u", ":w", ":x"])
                    self.values[placeholder] = self.requests.value(1) if self.rare(.1) else self.random.choice(operands)
                    actions.append(f"{self.path()} {placeholder}")
            parts.append(f"{word if not self.rare(.1) else word.lower()} {', '.join(actions)}")
        text = " ".join(parts)
        return text + self.random.choice([" SET a = :a", ",", " b", "("]) if self.rare(.02) else text

    def projection(self):
        return ", ".join(self.path() for _ in range(self.random.randrange(1, 4)))

    def key_condition(self, index):
        hash_name, range_name = INDEX_KEYS[index]
        self.values[":k"] = {"S": self.random.choice("pqr" if hash_name == "pk" else "uvw")}
        if self.rare(.03):
            self.values[":k"] = self.requests.value(1)
        text = f"{hash_name} = :k"
        if range_name and self.rare(.6):
            def bound(placeholder):
                is_text = range_name == "l"
                right = {"S": self.random.choice("xyz")} if is_text else {"N": str(self.random.randrange(4))}
                self.values[placeholder] = self.requests.value(1) if self.rare(.04) else right
                return placeholder
            kind = self.random.randrange(4)
            if kind < 2:
                condition = f"{range_name} {self.random.choice(['=', '<', '<=', '>', '>='])} {bound(':r')}"
            elif kind == 2:
                condition = f"{range_name} BETWEEN {bound(':r')} AND {bound(':q')}"
            else:
                condition = f"begins_with({range_name}, {bound(':r')})"
            text = f"{condition} AND {text}" if self.rare(.2) else f"{text} AND {condition}"
        if self.rare(.03):
            text += self.random.choice([" AND a = :k", " OR sk = :k", " AND sk <> :k", " AND attribute_exists(sk)"])
        return text

    def add_to(self, request):
        names, values = dict(self.names), dict(self.values)
        if self.rare(.02):
            names["#unused"] = "u"
        if self.rare(.02):
            values[":unused"] = {"S": "u"}
        if self.rare(.01):
            names["bad"] = "u"
        if self.rare(.01):
            values["bad"] = {"S": "u"}
        if names and not self.rare(.02):
            request["ExpressionAttributeNames"] = names
        if values and not self.rare(.02):
            request["ExpressionAttributeValues"] = values
        return request


class DataRequests:
    """`next()` returns an operation and its request."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        weights = {self.put: 4, self.update: 5, self.delete: 1, self.get: 2, self.query: 3, self.scan: 2,
                   self.transact_write: 2, self.transact_get: 1, self.batch_write: 2, self.batch_get: 1, self.statement: 4,
                   self.legacy: 3}
        self.makers, self.weights = list(weights), list(weights.values())

    def next(self):
        return self.random.choices(self.makers, self.weights)[0]()

    def rare(self, part):
        return self.random.random() < part

    def value(self, depth=0):
        if self.rare(.03):
            return self.random.choice(WRONG_VALUES)
        kind = self.random.choice(["S", "N", "N", "S", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"] if depth < 3
                                  else ["S", "N", "BOOL"])
        if kind == "S":
            return {"S": self.random.choice(["", "a", "b", "abc", "x y", "é", "\u0000", "ab"])}
        if kind == "N":
            return {"N": self.random.choice(NUMBERS)}
        if kind == "B":
            return {"B": self.random.choice(["", "YQ==", "YWI=", "AA=="])}
        if kind == "BOOL":
            return {"BOOL": self.random.choice([True, False])}
        if kind == "NULL":
            return {"NULL": True}
        if kind == "M":
            return {"M": {self.random.choice(NAMES): self.value(depth + 1) for _ in range(self.random.randrange(4))}}
        if kind == "L":
            return {"L": [self.value(depth + 1) for _ in range(self.random.randrange(4))]}
        members = {"SS": ["a", "b", "c", ""], "NS": ["1", "2", "3", "1.5"], "BS": ["YQ==", "Yg==", "Yw=="]}[kind]
        return {kind: self.random.sample(members, self.random.randrange(1, 4))}

    def key(self):
        key = {"pk": {"S": self.random.choice("pqr")}, "sk": {"N": str(self.random.randrange(4))}}
        if not self.rare(.06):
            return key
        return self.random.choice([
            {"pk": key["pk"]}, {**key, "x": {"S": "1"}}, {**key, "pk": {"N": "1"}}, {**key, "pk": {"S": ""}}, {},
            {**key, "sk": self.random.choice(WRONG_VALUES)}, {**key, "sk": {"N": self.random.choice(NUMBERS)}},
            {"zz": {"S": "1"}, "yy": {"N": "1"}}])

    def item(self):
        item = self.key()
        index_values = {"g": "uvw", "h": "0123", "l": "xyz"}
        for _ in range(self.random.randrange(5)):
            name = self.random.choice([name for name in NAMES if name not in ("pk", "sk")])
            if name in index_values and not self.rare(.1):
                item[name] = {"N" if name == "h" else "S": self.random.choice(index_values[name])}
            else:
                item[name] = self.value()
        return item

    def table(self):
        return self.random.choice(["Nope", "", "a", "x!x!x!", "t" * 256]) if self.rare(.02) else THINGS

    def with_options(self, request, return_values=()):
        if return_values and self.rare(.5):
            request["ReturnValues"] = self.random.choice(["X", "ALL_NEW"] if self.rare(.05) else return_values)
        if self.rare(.3):
            request["ReturnConsumedCapacity"] = self.random.choice(["X"] if self.rare(.05) else ["TOTAL", "INDEXES", "NONE"])
        if self.rare(.1):
            request["ReturnValuesOnConditionCheckFailure"] = self.random.choice(["ALL_OLD", "NONE"])
        return request

    def put(self):
        request, expression = {"TableName": self.table(), "Item": self.item()}, Expression(self)
        if self.rare(.4):
            request["ConditionExpression"] = expression.condition()
        return "PutItem", self.with_options(expression.add_to(request), ["NONE", "ALL_OLD"])

    def update(self):
        request, expression = {"TableName": self.table(), "Key": self.key()}, Expression(self)
        if self.rare(.95):
            request["UpdateExpression"] = expression.update()
        if self.rare(.3):
            request["ConditionExpression"] = expression.condition()
        return "UpdateItem", self.with_options(expression.add_to(request),
                                               ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])

    def delete(self):
        request, expression = {"TableName": self.table(), "Key": self.key()}, Expression(self)
        if self.rare(.5):
            request["ConditionExpression"] = expression.condition()
        return "DeleteItem", self.with_options(expression.add_to(request), ["NONE", "ALL_OLD"])

    def get(self):
        request, expression = {"TableName": self.table(), "Key": self.key()}, Expression(self)
        if self.rare(.5):
            request["ProjectionExpression"] = expression.projection()
        if self.rare(.3):
            request["ConsistentRead"] = self.random.choice([True, False])
        return "GetItem", self.with_options(expression.add_to(request))

    def with_page(self, request):
        if self.rare(.3):
            request["Select"] = self.random.choice(["COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES",
                                                    "SPECIFIC_ATTRIBUTES"])
        if self.rare(.2):
            request["ConsistentRead"] = self.random.choice([True, False])
        if self.rare(.02):
            request["Limit"] = self.random.choice([0, -1, "1", 1.5])
        if self.rare(.3):
            request["ReturnConsumedCapacity"] = self.random.choice(["TOTAL", "INDEXES"])
        return request

    def query(self):
        expression, index = Expression(self), self.random.choice([None, None, "ByGroup", "KeysOfGroup", "ByLabel"])
        request = {"TableName": self.table(), "KeyConditionExpression": expression.key_condition(index)}
        if index or self.rare(.02):
            request["IndexName"] = index or "Nope"
        if self.rare(.4):
            request["FilterExpression"] = expression.condition()
        if self.rare(.3):
            request["ProjectionExpression"] = expression.projection()
        if self.rare(.3):
            request["ScanIndexForward"] = self.random.choice([True, False])
        # Items with the same index key may come in any order, so only queries of the table are parted.
        if index is None and self.rare(.3):
            request["Limit"] = self.random.randrange(1, 5)
        if index is None and self.rare(.2):
            start = {"pk": {"S": self.random.choice("pqr")}, "sk": {"N": str(self.random.randrange(4))}}
            request["ExclusiveStartKey"] = self.random.choice([start, start, start, {"pk": start["pk"]},
                                                               {**start, "x": {"S": "1"}}])
        return "Query", self.with_page(expression.add_to(request))

    def scan(self):
        # Without Limit and start key: each engine has an order of its own.
        request, expression = {"TableName": self.table()}, Expression(self)
        if self.rare(.3):
            request["IndexName"] = self.random.choice(["ByGroup", "KeysOfGroup", "ByLabel"])
        if self.rare(.6):
            request["FilterExpression"] = expression.condition()
        if self.rare(.3):
            request["ProjectionExpression"] = expression.projection()
        if self.rare(.1):
            request["TotalSegments"], request["Segment"] = self.random.choice([(1, 0), (1, 1), (0, 0), (1, -1)])
        return "Scan", self.with_page(expression.add_to(request))

    def transact_write(self):
        actions = []
        for _ in range(self.random.randrange(1, 4)):
            kind, expression = self.random.choice(["Put", "Update", "Delete", "ConditionCheck"]), Expression(self)
            action = {"TableName": self.table()}
            if kind == "Put":
                action["Item"] = self.item()
            else:
                action["Key"] = self.key()
            if kind == "Update":
                action["UpdateExpression"] = expression.update()
            if kind == "ConditionCheck" or self.rare(.3):
                action["ConditionExpression"] = expression.condition()
            if self.rare(.3):
                action["ReturnValuesOnConditionCheckFailure"] = self.random.choice(["ALL_OLD", "NONE"])
            actions.append({kind: expression.add_to(action)})
        return "TransactWriteItems", {"TransactItems": actions}

    def transact_get(self):
        actions = []
        for _ in range(self.random.randrange(1, 4)):
            action, expression = {"TableName": self.table(), "Key": self.key()}, Expression(self)
            if self.rare(.4):
                action["ProjectionExpression"] = expression.projection()
            actions.append({"Get": expression.add_to(action)})
        return "TransactGetItems", {"TransactItems": actions}

    def batch_write(self):
        def write_of(table):
            if table == THINGS:
                return ({"PutRequest": {"Item": self.item()}} if self.rare(.6)
                        else {"DeleteRequest": {"Key": self.key()}})
            key = {"id": {"S": self.random.choice("abc")}}
            return ({"PutRequest": {"Item": {**key, "v": self.value()}}} if self.rare(.6)
                    else {"DeleteRequest": {"Key": key}})
        tables = self.random.sample([THINGS, COUNTERS], self.random.randrange(1, 3))
        return "BatchWriteItem", {"RequestItems": {
            table: [write_of(table) for _ in range(self.random.randrange(1, 4))] for table in tables}}

    def batch_get(self):
        expression = Expression(self)
        of_table = {"Keys": [self.key() for _ in range(self.random.randrange(1, 4))]}
        if self.rare(.4):
            of_table["ProjectionExpression"] = expression.projection()
        return "BatchGetItem", {"RequestItems": {self.table(): expression.add_to(of_table)}}

    # ---- PartiQL

    def column(self):
        name = self.random.choice(NAMES)
        return f'"{name}"' if name in RESERVED or self.rare(.4) else name

    def literal(self, depth=0):
        kind = self.random.randrange(10 if depth < 2 else 6)
        if kind <= 1:
            return self.random.choice(["'a'", "'b'", "'abc'", "''", "'it''s'"])
        if kind <= 3:
            return self.random.choice(["0", "1", "-2.5", "1e2", "3.14"])
        if kind == 4:
            return self.random.choice(["true", "false"])
        if kind == 5:
            return "null"
        if kind == 6:
            return f"[{', '.join(self.literal(depth + 1) for _ in range(self.random.randrange(3)))}]"
        if kind == 7:
            names = self.random.sample(NAMES, self.random.randrange(3))
            members = [f"'{name}': {self.literal(depth + 1)}" for name in names]
            return "{" + ", ".join(members) + "}"
        return self.random.choice(["<<'a','b'>>", "<<1,2>>", "<<'a'>>"])

    def column_path(self):
        text = self.column()
        while self.rare(.2):
            text += self.random.choice(["." + self.column(), f"[{self.random.randrange(3)}]"])
        return text

    def statement_condition(self, depth=0):
        if depth < 2 and self.rare(.25):
            word = self.random.choice(["AND", "OR"])
            return f"{self.statement_condition(depth + 1)} {word} {self.statement_condition(depth + 1)}"
        if depth < 2 and self.rare(.1):
            return f"NOT ({self.statement_condition(depth + 1)})"
        kind = self.random.randrange(8)
        if kind <= 2:
            return f"{self.column_path()} {self.random.choice(['=', '<>', '<', '<=', '>', '>='])} {self.literal()}"
        if kind == 3:
            return f"{self.column_path()} BETWEEN {self.literal(2)} AND {self.literal(2)}"
        if kind == 4:
            return f"{self.column_path()} IN [{self.literal(2)}, {self.literal(2)}]"
        if kind == 5:
            return f"{self.column_path()} IS {self.random.choice(['MISSING', 'NOT MISSING', 'NULL', 'NOT NULL'])}"
        if kind == 6:
            return f"begins_with({self.column_path()}, {self.literal(2)})"
        return f"contains({self.column_path()}, {self.literal(2)})"

    def statement(self):
        key = f"pk = '{self.random.choice('pqr')}' AND sk = {self.random.randrange(4)}"
        kind = self.random.randrange(6)
        if kind <= 2:
            columns = "*" if self.rare(.6) else ", ".join(self.column_path() for _ in range(self.random.randrange(1, 3)))
            source = f'"{THINGS}"'
            if self.rare(.2):
                source += f'."{self.random.choice(["ByGroup", "ByLabel"])}"'
            where = self.random.choice([key, f"pk = '{self.random.choice('pqr')}'", self.statement_condition(),
                                        f"{key} AND {self.statement_condition()}"])
            text = f"SELECT {columns} FROM {source}" + (f" WHERE {where}" if not self.rare(.1) else "")
        elif kind == 3:
            text = (f"INSERT INTO \"{THINGS}\" VALUE {{'pk': '{self.random.choice('pqr')}', 'sk': {self.random.randrange(6)}, "
                    f"'{self.random.choice(NAMES)}': {self.literal()}}}")
        elif kind == 4:
            actions = []
            for _ in range(self.random.randrange(1, 3)):
                path, other = self.column_path(), self.column_path()
                value = self.random.choice([self.literal(), f"{other} + {self.literal()}",
                                            f"list_append({other}, {self.literal()})", f"set_add({path}, {self.literal()})"])
                actions.append(f"SET {path} = {value}" if self.rare(.7) else f"REMOVE {path}")
            text = f"UPDATE \"{THINGS}\" {' '.join(actions)} WHERE {key}"
            if self.rare(.3):
                text += f" AND {self.statement_condition()}"
            if self.rare(.3):
                text += self.random.choice([" RETURNING ALL NEW *", " RETURNING ALL OLD *", " RETURNING MODIFIED NEW *"])
        else:
            text = f'DELETE FROM "{THINGS}" WHERE {key}'
            if self.rare(.4):
                text += f" AND {self.statement_condition()}"
            if self.rare(.3):
                text += " RETURNING ALL OLD *"
        return "ExecuteStatement", {"Statement": text}

    # ---- parameters from before there were expressions

    def comparison(self):
        operator = self.random.choice(COMPARISONS)
        count = {"NULL": 0, "NOT_NULL": 0, "BETWEEN": 2, "IN": self.random.randrange(1, 4)}.get(operator, 1)
        if self.rare(.05):
            count = self.random.randrange(4)
        comparison = {"ComparisonOperator": operator}
        if count:
            comparison["AttributeValueList"] = [self.value(1) for _ in range(count)]
        return comparison

    def expected(self):
        kind = self.random.choice([self.comparison(), self.comparison(), {"Exists": False}, {"Value": self.value(1)},
                                   {"Value": self.value(1), "Exists": True}, {"Exists": True}])
        return {self.random.choice(NAMES): kind}

    def legacy(self):
        kind = self.random.randrange(5)
        if kind == 0:
            request = {"TableName": THINGS, "Item": self.item(), "Expected": {**self.expected(), **self.expected()}}
            if self.rare(.3):
                request["ConditionalOperator"] = self.random.choice(["AND", "OR"])
            return "PutItem", request
        if kind == 1:
            def update():
                return {"Action": self.random.choice(["PUT", "ADD", "DELETE"]), "Value": self.value(1)}
            names = NAMES if self.rare(.05) else [name for name in NAMES if name not in ("pk", "sk")]
            updates = {name: self.random.choice([update(), update(), update(), {"Action": "DELETE"}])
                       for name in self.random.sample(names, self.random.randrange(1, 4))}
            request = {"TableName": THINGS, "Key": self.key(), "AttributeUpdates": updates}
            if self.rare(.3):
                request["Expected"] = self.expected()
            return "UpdateItem", self.with_options(request, ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
        if kind == 2:
            request = {"TableName": THINGS, "ScanFilter": {name: self.comparison()
                                                           for name in self.random.sample(NAMES, self.random.randrange(1, 3))}}
            if self.rare(.3):
                request["ConditionalOperator"] = self.random.choice(["AND", "OR"])
            if self.rare(.2):
                request["AttributesToGet"] = self.random.sample(NAMES, 2)
            return "Scan", request
        if kind == 3:
            conditions = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": self.random.choice("pqr")}]}}
            if self.rare(.6):
                conditions["sk"] = (self.comparison() if self.rare(.3) else
                                    {"ComparisonOperator": self.random.choice(["EQ", "LE", "LT", "GE", "GT"]),
                                     "AttributeValueList": [{"N": str(self.random.randrange(4))}]})
            request = {"TableName": THINGS, "KeyConditions": conditions}
            if self.rare(.4):
                request["QueryFilter"] = {self.random.choice(NAMES): self.comparison()}
            if self.rare(.2):
                request["AttributesToGet"] = self.random.sample(NAMES, 2)
            return "Query", request
        return "GetItem", {"TableName": THINGS, "Key": self.key(),
                           "AttributesToGet": self.random.choice([self.random.sample(NAMES, 2), ["a", "a"], ["a"]])}
