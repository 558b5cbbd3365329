#!/usr/bin/python3
"""The mover is killed while it makes a table in a target whose tables are made in the background, as DynamoDB's, or without
their tags, as dynalite's. The next run waits for the table, and tags it.

graduate_tables_test.py ITEMD ITEMCTL

The target is itemd behind a proxy that answers so.
"""

import json
import sys

from engines import Itemd, Mover, Proxy, client_of, exception, items_of, make_table, run_test, work

itemd, itemctl = sys.argv[1:3]
Mover.itemctl = itemctl
# Of DescribeTable, after CreateTable: more than the mover asks for before it makes tables.
ANSWERS_CREATING = 8


class SlowTables(Proxy):
    """A table is CREATING until it was described some times, and cannot be used before. It is made without tags."""

    def __init__(self, side, kill_at):
        super().__init__(side)
        self.kill_at = kill_at
        self.mover = None
        self.creating = {}
        self.refused = []

    def kill_mover_at(self, operation, table):
        if (operation, table) == self.kill_at and self.mover is not None:
            self.mover.process.kill()
            self.mover.process.wait()
            self.mover = None
            return True
        return False

    def answer(self, operation, body, forward):
        request = json.loads(body)
        table = request.get("TableName") or request.get("ResourceArn", "").rpartition("/")[2]
        tables = request.get("RequestItems", {table: None})
        if operation == "DescribeTable":
            status, reply = forward(body)
            if self.creating.get(table, 0) > 0 and status == 200:
                self.creating[table] -= 1
                reply = reply.replace(b'"TableStatus":"ACTIVE"', b'"TableStatus":"CREATING"')
                assert b"CREATING" in reply, reply
            return status, reply
        if operation == "TagResource" and self.kill_mover_at(operation, table):
            return 500, exception("InternalServerError", "nobody reads this")
        if operation == "CreateTable":
            request.pop("Tags", None)
            status, reply = forward(json.dumps(request).encode())
            if table != "itemdb_moves":
                self.creating[table] = ANSWERS_CREATING
            self.kill_mover_at(operation, table)
            return status, reply.replace(b'"TableStatus":"ACTIVE"', b'"TableStatus":"CREATING"')
        if any(self.creating.get(name, 0) > 0 for name in tables):
            if operation != "ListTagsOfResource":
                self.refused.append(operation)
            return 400, exception("ResourceNotFoundException", "Requested resource not found")
        return forward(body)


def moves_after_a_kill(name, kill_at):
    source, behind = Itemd(itemd, f"source-{name}"), Itemd(itemd, f"behind-{name}")
    client = client_of(source.http)
    make_table(client, items=100)
    arn = client.describe_table(TableName="Counters")["Table"]["TableArn"]
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "sales"}])
    target = SlowTables(behind, kill_at)
    graduate = ["--endpoint", source.grpc, "graduate", target.http, "--state", str(work / f"{name}.json"), "--tables",
                "Counters", "--yes"]
    first = target.mover = Mover(f"{name}-killed", *graduate)
    assert first.process.wait(120) == -9, first.log()
    there = client_of(behind.http)
    made = there.describe_table(TableName="Counters")["Table"]
    assert there.list_tags_of_resource(ResourceArn=made["TableArn"])["Tags"] == [], made
    assert not target.refused, target.refused
    report = Mover(f"{name}-again", *graduate).report()
    assert report["step"] == "DONE" and report["items_copied"] == 100, report
    assert there.describe_table(TableName="Counters")["Table"]["TableId"] == made["TableId"]
    assert there.list_tags_of_resource(ResourceArn=made["TableArn"])["Tags"] == [{"Key": "team", "Value": "sales"}]
    assert items_of(there) == items_of(client)
    # Of a table that cannot be used yet nothing is asked but how far it is.
    assert not target.refused, target.refused


def main():
    moves_after_a_kill("creating", ("CreateTable", "Counters"))
    moves_after_a_kill("untagged", ("TagResource", "Counters"))
    print("moved after a kill while a table was CREATING, and before it had its tags")


run_test(main)
