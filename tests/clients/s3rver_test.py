#!/usr/bin/python3
"""Exports to and imports from s3rver, an S3 server in JavaScript, by itemd; boto3 reads what is there.

s3rver_test.py ITEMD ITEMCTL NODE S3RVER.MJS READ_EXPORT.PY
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import boto3
import botocore.config
from with_itemd import wait_for_address

ITEMS = 3000
ITEM_BYTES = 5000
KILLS = 4
PATIENCE_S = 120
SECRET = "S3RVER"  # s3rver has one key, with this id and secret.

itemd, itemctl, node, s3rver, read_export = sys.argv[1:]
work = pathlib.Path(tempfile.mkdtemp(prefix="itemdb-s3rver-"))
address_file = work / "address.json"
socket = f"unix:{work}/socket"
store = None
daemon = None


def start_store():
    global store
    store = subprocess.Popen([node, s3rver, str(work / "store")], stdout=subprocess.PIPE, text=True)
    return int(store.stdout.readline())


def start_daemon(port):
    global daemon
    credentials = work / "credentials"
    credentials.write_text(f"[default]\naws_access_key_id = {SECRET}\naws_secret_access_key = {SECRET}\n")
    credentials.chmod(0o600)
    address_file.unlink(missing_ok=True)
    daemon = subprocess.Popen(
        [itemd, "--data-dir", str(work / "data"), "--listen", socket, "--http-listen", "127.0.0.1:0",
         "--address-file", str(address_file), "--s3-endpoint", f"http://127.0.0.1:{port}",
         "--s3-credentials-file", str(credentials)])
    wait_for_address(daemon, str(address_file))


def run(*arguments, text=None):
    result = subprocess.run([itemctl, "--endpoint", socket, "-o", "jsonl", *arguments], input=text, text=True,
                            capture_output=True, check=False)
    assert result.returncode == 0, (arguments, result.stdout, result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def scan(table):
    return sorted(run("scan", table, "--typed"), key=lambda item: json.dumps([item["pk"], item["sk"]]))


def table_request(name):
    return json.dumps({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                                 {"AttributeName": "sk", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]})


def put_items():
    (work / "things.json").write_text(table_request("Things"))
    run("table", "create", "-f", str(work / "things.json"))
    run("pitr", "enable", "Things")
    choose = random.Random(7)
    items = []
    for i in range(ITEMS):
        # One partition key: one file has more than a part of an upload.
        text = "".join(choose.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=ITEM_BYTES))
        items.append(json.dumps({"pk": {"S": "p"}, "sk": {"N": str(i)}, "text": {"S": text}}))
    run("batch-write", "Things", text="\n".join(items) + "\n")


def download(s3, prefix):
    """Downloads the objects of a prefix and returns their folder."""
    folder = work / "downloads" / "bucket"
    shutil.rmtree(folder, ignore_errors=True)
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix):
        for found in page.get("Contents", []):
            file = folder / found["Key"]
            file.parent.mkdir(parents=True, exist_ok=True)
            s3.download_file("bucket", found["Key"], str(file))
    return folder


def check_export(s3, manifest):
    folder = download(s3, manifest.rsplit("/", 1)[0] + "/")
    read = subprocess.run(["/usr/bin/python3", read_export, str(folder), manifest], capture_output=True, text=True,
                          check=False)
    assert read.returncode == 0, read.stderr
    assert len(json.loads(read.stdout)["items"]) == ITEMS


def await_export():
    for _ in range(PATIENCE_S * 20):
        described = run("export", "describe", "Things")[0]
        if described["ExportStatus"] != "IN_PROGRESS":
            return described
        time.sleep(0.05)
    raise AssertionError("the export does not end")


def main():
    port = start_store()
    s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id=SECRET,
                      aws_secret_access_key=SECRET, region_name="us-east-1",
                      config=botocore.config.Config(s3={"addressing_style": "path"}))
    start_daemon(port)
    put_items()
    expected = scan("Things")
    assert len(expected) == ITEMS

    begun = time.monotonic()
    made = run("export", "start", "Things", "bucket", "--prefix", "some where/a+b&c", "--wait")[0]
    whole_s = time.monotonic() - begun
    assert made["ExportStatus"] == "COMPLETED", made
    check_export(s3, made["ExportManifest"])

    (work / "copy.json").write_text(table_request("Copy"))
    imported = run("import", "start", "-f", str(work / "copy.json"), "bucket", "--prefix",
                   made["ExportManifest"].rsplit("/", 1)[0] + "/data/", "--compression", "GZIP", "--wait")[0]
    assert imported["ImportStatus"] == "COMPLETED", imported
    assert scan("Copy") == expected

    interrupted = 0
    for kill in range(KILLS):
        run("export", "start", "Things", "bucket")
        time.sleep(whole_s * (kill + 1) / (KILLS + 1))
        daemon.kill()
        daemon.wait()
        start_daemon(port)
        interrupted += run("export", "describe", "Things")[0]["ExportStatus"] == "IN_PROGRESS"
        described = await_export()
        assert described["ExportStatus"] == "COMPLETED", described
        check_export(s3, described["ExportManifest"])
    print(f"{KILLS} kills, {interrupted} of them in an export")

    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(PATIENCE_S) == 0


try:
    main()
finally:
    for process in (daemon, store):
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
    shutil.rmtree(work)
