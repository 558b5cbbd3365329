#!/usr/bin/python3
"""Moves whose way to the target, or whose target, is faulty: each is told by name, goes on, and loses nothing.

graduate_faults_test.py ITEMD ITEMCTL TARGET_FAULTS [FAULT]...

The target is itemd over HTTP with access keys, so it checks signatures as DynamoDB does. TARGET_FAULTS: the library of
target_faults.cc. FAULT: only these, by the names of their functions.
"""

import http.client
import http.server
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import botocore.exceptions

import engines
from engines import Itemd, client_of, work
from with_itemd import SECRET, write_key_file

itemd, itemctl, faults_library = sys.argv[1:4]
seed = int(os.environ.get("ITEMDB_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
chance = random.Random(seed)
PATIENCE_S = 120
# Of itemctl: its only keys are those of its command line.
environment = {"HOME": str(work), "PATH": os.environ["PATH"], "AWS_REGION": "eu-central-1",
               "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull,
               "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


class FaultyProxy(http.server.ThreadingHTTPServer):
    """Drops requests and answers, sends requests and answers twice, and lets later ones overtake."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, target):
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.target = target
        self.http = "http://127.0.0.1:%d" % self.server_address[1]
        self.is_faulty = True
        # Old writes arrive once more, after newer ones.
        self.repeats_late = True
        self.counts = {}
        self.lock = threading.Lock()
        self.late = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def fault(self):
        with self.lock:
            value = chance.random() if self.is_faulty else 1
        for name in ("dropped request", "dropped answer", "request sent twice", "answer sent twice", "overtaken"):
            value -= 0.02
            if value < 0:
                break
        else:
            name = "late repetition" if value < 0.02 and self.repeats_late else ""
        if name:
            with self.lock:
                self.counts[name] = self.counts.get(name, 0) + 1
        return name

    def end_late_repetitions(self):
        self.repeats_late = False
        for thread in self.late:
            thread.join()

    def handle_error(self, request, client_address):
        pass


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send_on(self, headers, body):
        connection = http.client.HTTPConnection(self.server.target, timeout=60)
        try:
            connection.putrequest("POST", "/", skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
            head = f"HTTP/1.1 {answer.status} {answer.reason}\r\n"
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "keep-alive"):
                    head += f"{name}: {value}\r\n"
            return (head + "\r\n").encode() + content
        finally:
            connection.close()

    def repeat(self, headers, body):
        time.sleep(chance.uniform(0.05, 0.5))
        try:
            self.send_on(headers, body)
        except OSError:
            pass

    def do_POST(self):
        headers = self.headers.items()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.fault()
        if fault == "dropped request":
            self.close_connection = True
            return
        if fault == "overtaken":
            time.sleep(chance.uniform(0.02, 0.3))
        if fault == "request sent twice":
            self.send_on(headers, body)
        answer = self.send_on(headers, body)
        if fault == "late repetition":
            thread = threading.Thread(target=self.repeat, args=(headers, body), daemon=True)
            thread.start()
            self.server.late.append(thread)
        if fault == "dropped answer":
            # A reset after a part of the answer.
            self.wfile.write(answer[:len(answer) // 2])
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self.wfile.write(answer * 2 if fault == "answer sent twice" else answer)

    def log_message(self, *arguments):
        pass


class Writers:
    """Threads that add 1 to counters, put and delete items, at the source until they are told that it moved."""

    def __init__(self, source, target, named, threads=3):
        self.source, self.target, self.named = source, target, named
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.counters, self.items = {}, {}
        self.moved = 0
        self.threads = [threading.Thread(target=self.write, args=(number,), daemon=True) for number in range(threads)]
        for thread in self.threads:
            thread.start()

    def send(self, client, call, **arguments):
        while True:
            try:
                getattr(client, call)(TableName="Counters", **arguments)
                return client
            except botocore.exceptions.ClientError as error:
                message = error.response["Error"]["Message"]
                if "has moved to" in message:
                    assert self.named in message, message
                    client = self.target
                    with self.lock:
                        self.moved += 1
                else:
                    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 503, message
                    time.sleep(0.02)

    def write(self, number):
        client = self.source
        pick = random.Random(number)
        while not self.stopped.is_set():
            key = f"w{number}/{pick.randrange(30)}"
            client = self.send(client, "update_item", Key={"id": {"S": key}}, UpdateExpression="ADD n :one",
                               ExpressionAttributeValues={":one": {"N": "1"}})
            with self.lock:
                self.counters[key] = self.counters.get(key, 0) + 1
            key = f"i{number}/{pick.randrange(30)}"
            if pick.random() < 0.5:
                value = str(pick.randrange(1 << 30))
                client = self.send(client, "put_item", Item={"id": {"S": key}, "n": {"N": value}})
            else:
                value = None
                client = self.send(client, "delete_item", Key={"id": {"S": key}})
            with self.lock:
                self.items[key] = value
            time.sleep(0.002)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def check(self, items):
        """Every write is there once: no engine of this test fails a write whose outcome is unknown."""
        for key, count in self.counters.items():
            assert items.get(key) == str(count), (key, count, items.get(key))
        for key, value in self.items.items():
            assert items.get(key) == value, (key, value, items.get(key))


def items_of(client):
    items = {}
    for page in client.get_paginator("scan").paginate(TableName="Counters", ConsistentRead=True):
        for item in page["Items"]:
            items[item["id"]["S"]] = item.get("n", {"N": ""})["N"]
    return items


def graduate(source, endpoint, *more, key="ADMIN", secret=SECRET):
    secret_file = work / "secret"
    secret_file.write_text(secret, encoding="utf-8")
    secret_file.chmod(0o600)
    return [itemctl, "--endpoint", source.grpc, "-o", "jsonl", "graduate", endpoint, "--state", str(work / "move.json"),
            "--target-access-key-id", key, "--target-secret-access-key-file", str(secret_file), *more]


def run(arguments, code):
    result = subprocess.run(arguments, text=True, capture_output=True, check=False, env=environment, timeout=PATIENCE_S)
    assert result.returncode == code, result
    return result


def run_by_proxy(arguments, code):
    """An answer that is sent twice is taken for that of the next request on its connection. The move finds out by what
    it says, stops, and goes on when it is run again."""
    for _ in range(20):
        result = subprocess.run(arguments, text=True, capture_output=True, check=False, env=environment,
                                timeout=PATIENCE_S)
        if result.returncode == code:
            return result
        assert result.returncode in (1, 5, 6) and "the target http://" in result.stderr, result
        print("run again after:", result.stderr.strip().splitlines()[-1])
    raise AssertionError(result)


def expect(text, *parts):
    for part in parts:
        assert part in text, (part, text)


def wait_until(condition):
    for _ in range(PATIENCE_S * 10):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("not in time")


def make_source(items, *arguments):
    source = Itemd(itemd, "source", *arguments)
    client_of(source.http).create_table(
        TableName="Counters", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    lines = "".join(json.dumps({"id": {"S": f"item{i}"}, "text": {"S": "x" * 200}}) + "\n" for i in range(items))
    loaded = subprocess.run([itemctl, "--endpoint", source.grpc, "batch-write", "Counters"], input=lines, text=True,
                            capture_output=True, check=False, env=environment)
    assert loaded.returncode == 0, loaded.stderr
    return source


def make_target():
    keys = str(work / "keys.toml")
    write_key_file(keys, [("ADMIN", SECRET, "admin")])
    target = Itemd(itemd, "target", "--access-keys", keys, "--tls-reload-interval", "1s")
    target.keys = keys
    target.client = client_of(target.http, key="ADMIN", secret=SECRET)
    return target


def start_mover(arguments):
    log = work / "mover.log"
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(arguments, stdout=file, stderr=file, env=environment)
    engines.processes.append(process)
    return process, lambda: log.read_text(encoding="utf-8")


def proxy_that_drops_repeats_and_reorders():
    source, target = make_source(3_000), make_target()
    proxy = FaultyProxy(target.listen)
    writers = Writers(client_of(source.http), target.client, proxy.http)
    # Copies, follows and compares; without --yes it does not switch.
    run_by_proxy(graduate(source, proxy.http), 2)
    mover, log = start_mover(graduate(source, proxy.http, "--follow"))
    time.sleep(3)
    if mover.poll() is None:
        mover.send_signal(signal.SIGINT)
    mover.wait(PATIENCE_S)
    print("followed:", log())
    before = dict(proxy.counts)
    # Nothing that arrives after the switch can be told from a writer's own write.
    proxy.end_late_repetitions()
    switched = run_by_proxy(graduate(source, proxy.http, "--yes"), 0)
    report = json.loads(switched.stdout)
    assert report["step"] == "DONE", report
    for _ in range(PATIENCE_S * 10):
        if writers.moved == 3:
            break
        time.sleep(0.1)
    assert writers.moved == 3
    time.sleep(0.5)
    writers.stop()
    items = items_of(target.client)
    writers.check(items)
    assert sum(key.startswith("item") for key in items) == 3_000
    print("proxy:", proxy.counts, "before the switch:", before, "report:", report)
    assert len(proxy.counts) == 6, proxy.counts

    # And back by the same proxy.
    target.client.put_item(TableName="Counters", Item={"id": {"S": "there"}, "n": {"N": "1"}})
    target.client.delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    run_by_proxy(graduate(source, proxy.http, "--back", "--yes"), 0)
    assert items_of(client_of(source.http)) == items_of(target.client)


def credentials_that_become_invalid():
    source, target = make_source(10_000), make_target()
    mover, log = start_mover(graduate(source, target.http, "--max-rate", "2500"))
    while target.client.list_tables()["TableNames"] == [] or target.client.scan(
            TableName="Counters", Select="COUNT")["Count"] == 0:
        time.sleep(0.05)
    write_key_file(target.keys, [("OTHER", SECRET, "admin")])
    assert mover.wait(PATIENCE_S) != 0
    expect(log(), f"the target {target.http}", "security token", "credentials", "run the same command again")
    print("credentials:", log().strip().splitlines()[-1])
    # Still wrong: nothing is lost, and nothing is forgotten.
    expect(run(graduate(source, target.http), 1).stderr, "the target", "security token")
    write_key_file(target.keys, [("OTHER", "another secret of sufficient length", "admin")])
    time.sleep(2.5)
    run(graduate(source, target.http, key="OTHER", secret="another secret of sufficient length"), 2)
    report = json.loads(run(graduate(source, target.http, "--yes", key="OTHER",
                                     secret="another secret of sufficient length"), 0).stdout)
    assert report["step"] == "DONE", report
    other = client_of(target.http, key="OTHER", secret="another secret of sufficient length")
    assert items_of(other) == items_of(client_of(source.http))


def clock_that_is_wrong():
    source, target = make_source(100), make_target()
    for seconds, words in ((3600, "Signature expired"), (-3600, "Signature not yet current")):
        target.stop()
        target.start(LD_PRELOAD=faults_library, TARGET_CLOCK_SECONDS=str(seconds))
        refused = run(graduate(source, target.http, "--yes"), 1)
        expect(refused.stderr, f"the target {target.http}", words, "clock", "run the same command again")
        print("clock:", refused.stderr.strip().splitlines()[-1])
    target.stop()
    target.start()
    assert json.loads(run(graduate(source, target.http, "--yes"), 0).stdout)["step"] == "DONE"
    assert len(items_of(target.client)) == 100


def disk_that_is_full():
    source, target = make_source(10_000), make_target()
    target.stop()
    folder = work / "faults"
    folder.mkdir()
    target.start(LD_PRELOAD=faults_library, TARGET_FAULTS=str(folder))
    mover, log = start_mover(graduate(source, target.http, "--max-rate", "2500", "--patience", "8"))
    while target.client.list_tables()["TableNames"] == [] or target.client.scan(
            TableName="Counters", Select="COUNT")["Count"] == 0:
        time.sleep(0.05)
    (folder / "full_disk").touch()
    assert mover.wait(PATIENCE_S) != 0
    expect(log(), f"the target {target.http}", "the disk has less than", "run the same command again")
    print("disk:", log().strip().splitlines()[-1])
    (folder / "full_disk").unlink()
    report = json.loads(run(graduate(source, target.http, "--yes"), 0).stdout)
    assert report["step"] == "DONE" and report["differences"] == 0, report
    assert items_of(target.client) == items_of(client_of(source.http))


def disk_of_the_source_that_is_full():
    """The source does not keep changes for a mover that is away until nothing can be written there. The mover is told."""
    source, target = make_source(3_000, "--change-retention", "1s"), make_target()
    source.stop()
    folder = work / "faults"
    folder.mkdir()
    source.start(LD_PRELOAD=faults_library, TARGET_FAULTS=str(folder))
    mover, log = start_mover(graduate(source, target.http, "--follow", "--hold", "600"))
    wait_until(lambda: "following: " in log())
    mover.send_signal(signal.SIGSTOP)
    client = client_of(source.http)
    for number in range(200):
        client.put_item(TableName="Counters", Item={"id": {"S": f"late{number}"}})
    # Below the floor, but not so little that not even changes can be trimmed.
    (folder / "full_disk").write_text("64", encoding="utf-8")

    def hold_state():
        listed = run([itemctl, "--endpoint", source.grpc, "-o", "json", "change-holds", "list"], 0)
        return json.loads(listed.stdout)["change_holds"][0]["state"]

    wait_until(lambda: hold_state() == "disk_full")
    mover.send_signal(signal.SIGCONT)
    assert mover.wait(PATIENCE_S) == 1
    expect(log(), "the source: hold move-", "free space was below twice the floor", "run the same command again")
    print("disk of the source:", log().strip().splitlines()[-1])
    expect(engines.log_of("source"), "hold of the change log ended", "state=disk_full")
    # A move makes room: it goes on while the disk is still full, without a hold.
    done = run(graduate(source, target.http, "--yes"), 0)
    expect(done.stderr, "the source keeps its changes for its retention only", "the disk has less than")
    assert json.loads(done.stdout)["step"] == "DONE", done.stdout
    assert items_of(target.client) == items_of(client)


def source_that_is_full_at_the_beginning():
    """A move off a disk that is full begins too."""
    source, target = make_source(100), make_target()
    source.stop()
    folder = work / "faults"
    folder.mkdir()
    source.start(LD_PRELOAD=faults_library, TARGET_FAULTS=str(folder))
    client = client_of(source.http)
    (folder / "full_disk").write_text("64", encoding="utf-8")

    def is_full():
        try:
            client.put_item(TableName="Counters", Item={"id": {"S": "late"}})
            return False
        except botocore.exceptions.ClientError:
            return True

    wait_until(is_full)
    done = run(graduate(source, target.http, "--yes"), 0)
    expect(done.stderr, "the source keeps its changes for its retention only", "the disk has less than")
    assert json.loads(done.stdout)["step"] == "DONE", done.stdout
    assert items_of(target.client) == items_of(client)


def main():
    for test in (proxy_that_drops_repeats_and_reorders, credentials_that_become_invalid, clock_that_is_wrong,
                 disk_that_is_full, disk_of_the_source_that_is_full, source_that_is_full_at_the_beginning):
        if sys.argv[4:] and test.__name__ not in sys.argv[4:]:
            continue
        print(test.__name__, flush=True)
        test()
        engines.stop_all()
        shutil.rmtree(work)
        work.mkdir()


engines.run_test(main, note=f"ITEMDB_TEST_SEED={seed}")
