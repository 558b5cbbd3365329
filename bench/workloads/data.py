"""The order-entry data that the workloads read: made from a number, so every server gets the same.

An order has a header and three lines. Each product has one item for itself and four for its stock in warehouses.
http/orders.lua forms the same keys.
"""
import random
import time

PRODUCTS = 10_000
DAYS = 730
FIRST_SECOND = 1_704_067_200  # 2024-01-01


def customers_of(orders):
    return max(1, orders // 50)


def representatives_of(orders):
    return max(1, customers_of(orders) // 100)


def order_number(i):
    """Orders are not loaded in the order of their keys."""
    return i * 2654435761 % 2**32


def order_id(i):
    return f"ord_{order_number(i):08x}"


def price_cents(product):
    return 100 + product * 7919 % 9900


def money(cents):
    return f"{cents // 100}.{cents % 100:02d}"


class Order:
    def __init__(self, i, orders):
        draw = random.Random(i)
        customers = customers_of(orders)
        self.number, self.id, self.i = order_number(i), order_id(i), i
        self.customer = draw.randrange(customers)
        self.representative = self.customer % representatives_of(orders)
        self.second = draw.randrange(DAYS * 86400)
        self.open = draw.randrange(5) == 0
        self.shard = draw.randrange(5)
        first = draw.randrange(PRODUCTS)
        second = (first + 1 + draw.randrange(PRODUCTS // 3)) % PRODUCTS
        third = (second + 1 + draw.randrange(PRODUCTS // 3)) % PRODUCTS
        self.lines = [(product, draw.randint(1, 10)) for product in (first, second, third)]
        self.cents = sum(quantity * price_cents(product) for product, quantity in self.lines)
        self.ship_to = f"{draw.randrange(1000):03d} Main St, SEA"

    @property
    def date(self):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST_SECOND + self.second))


def s(value):
    return {"S": value}


def n(value):
    return {"N": str(value)}


def items_of_order(order):
    header = {
        "PK": s(order.id), "SK": s(order.id), "customer_id": s(f"cust_{order.customer:07d}"), "order_date": s(order.date),
        "status": s("OPEN" if order.open else "CLOSED"), "account_rep_id": s(f"rep_{order.representative:04d}"),
        "total_amount": n(money(order.cents)),
        "order_items": {"L": [{"M": {"product_id": s(f"prod_{p:06d}"), "qty": n(q)}} for p, q in order.lines]},
        "ship_to": s(order.ship_to)}
    if order.open:
        header |= {"shard": n(order.shard), "open_shard": s(f"OPEN#{order.shard}")}
    yield header
    for product, quantity in order.lines:
        yield {"PK": s(order.id), "SK": s(f"prod_{product:06d}"), "product_id": s(f"prod_{product:06d}"),
               "quantity": n(quantity), "price": n(money(price_cents(product))),
               "buyer_id": s(f"cust_{order.customer:07d}"), "ordered_on": s(order.date)}


def warehouses_of(product):
    return [(product % 10 + 3 * which) % 10 for which in range(4)]


def items_of_product(product):
    key = s(f"prod_{product:06d}")
    yield {"product_id": key, "warehouse_id": key, "product_name": s(f"Product {product}"),
           "unit_price": n(money(price_cents(product))), "total_inventory": n(4_000_000_000)}
    for warehouse in warehouses_of(product):
        yield {"product_id": key, "warehouse_id": s(f"wh_{warehouse:02d}"), "inventory_quantity": n(1_000_000_000)}


def put_requests(orders):
    """Bodies of BatchWriteItem."""
    for table, items in (("Product", (item for product in range(PRODUCTS) for item in items_of_product(product))),
                         ("Order", (item for i in range(orders) for item in items_of_order(Order(i, orders))))):
        batch = []
        for item in items:
            batch.append({"PutRequest": {"Item": item}})
            if len(batch) == 25:
                yield {"RequestItems": {table: batch}}
                batch = []
        if batch:
            yield {"RequestItems": {table: batch}}


def index(name, partition_key, sort_key, attributes):
    return {"IndexName": name, "KeySchema": [{"AttributeName": partition_key, "KeyType": "HASH"},
                                             {"AttributeName": sort_key, "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": attributes}}


def table(name, partition_key, sort_key, indexes):
    keys = [{"AttributeName": partition_key, "KeyType": "HASH"}, {"AttributeName": sort_key, "KeyType": "RANGE"}]
    names = {key["AttributeName"] for schema in [keys] + [i["KeySchema"] for i in indexes] for key in schema}
    definition = {"TableName": name, "KeySchema": keys, "BillingMode": "PAY_PER_REQUEST",
                  "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in sorted(names)]}
    return definition | ({"GlobalSecondaryIndexes": indexes} if indexes else {})


TABLES = [
    table("Order", "PK", "SK", [
        index("OrderByCustomerDate", "customer_id", "order_date", ["status", "total_amount", "order_items", "shard"]),
        index("OpenOrdersByDate", "open_shard", "order_date",
              ["customer_id", "account_rep_id", "order_items", "total_amount"]),
        index("OrderByAccountRep", "account_rep_id", "order_date", ["customer_id", "status", "total_amount"]),
        index("ProductInOrders", "product_id", "PK", ["buyer_id", "ordered_on", "quantity"])]),
    table("Product", "product_id", "warehouse_id", []),
]


def copy_rows(orders):
    """Tables of postgresql/schema.sql with their rows, as COPY reads them."""
    made = [Order(i, orders) for i in range(orders)]
    yield "orders", ((o.number, o.customer, o.date, "OPEN" if o.open else "CLOSED", o.representative, money(o.cents),
                      o.ship_to, o.shard if o.open else "\\N") for o in made)
    yield "order_items", ((o.number, p, q, money(price_cents(p))) for o in made for p, q in o.lines)
    yield "products", ((p, f"Product {p}", "Hardware", money(price_cents(p)), 4_000_000_000) for p in range(PRODUCTS))
    yield "inventory", ((p, w, 1_000_000_000) for p in range(PRODUCTS) for w in warehouses_of(p))


def redis_commands(orders):
    """A hash for each item, a sorted set for each index. Ids are decimal, as redis-benchmark makes them."""
    for i in range(orders):
        o = Order(i, orders)
        key = f"{i:012d}"
        lines = ";".join(f"prod_{p:06d}={q}" for p, q in o.lines)
        yield ["HSET", f"o:{key}", "customer_id", f"cust_{o.customer}", "order_date", o.second, "status",
               "OPEN" if o.open else "CLOSED", "account_rep_id", f"rep_{o.representative:04d}", "total_amount",
               money(o.cents), "order_items", lines, "ship_to", o.ship_to]
        yield ["ZADD", f"ocd:{o.customer}", o.second, key]
        yield ["ZADD", f"oar:{o.representative}", o.second, key]
        if o.open:
            yield ["ZADD", f"oobd:{o.shard}", o.second, key]
        for line, (p, q) in enumerate(o.lines):
            yield ["HSET", f"i:{key}:{line}", "product_id", f"prod_{p:06d}", "quantity", q, "price",
                   money(price_cents(p)), "buyer_id", f"cust_{o.customer}", "ordered_on", o.second]
            yield ["ZADD", f"pio:{p}", 0, key]
    for p in range(PRODUCTS):
        yield ["HSET", f"p:{p}", "total_inventory", 4_000_000_000, "unit_price", money(price_cents(p))]
        for which in range(4):
            yield ["HSET", f"p:{p}:{which}", "inventory_quantity", 1_000_000_000]
