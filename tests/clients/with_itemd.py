#!/usr/bin/python3
"""Starts itemd on an empty directory, runs a program against its HTTP endpoint, stops it.

with_itemd.py ITEMD [--] PROGRAM [ARGUMENT]...

The program finds the endpoint in AWS_ENDPOINT_URL_DYNAMODB, and credentials and a region that fit it. Its exit
code is this program's, unless itemd does not end as it should.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

START_SECONDS = 120
STOP_SECONDS = 120


def wait_for_address(daemon, address_file):
    for _ in range(START_SECONDS * 20):
        if os.path.exists(address_file):
            with open(address_file, encoding="utf-8") as file:
                return json.load(file)["http"][0]
        if daemon.poll() is not None:
            sys.exit(f"itemd ended with exit code {daemon.returncode}")
        time.sleep(0.05)
    sys.exit("itemd does not start")


def environment(address, home):
    result = {
        "HOME": home,
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "AWS_ENDPOINT_URL_DYNAMODB": f"http://{address}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        # No attempts to reach anything else than the endpoint.
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "no_proxy": "127.0.0.1,localhost",
    }
    for name in ("ITEMDB_ORDER_ENTRY", "PYTHONDONTWRITEBYTECODE"):
        if name in os.environ:
            result[name] = os.environ[name]
    return result


def main():
    itemd, *program = sys.argv[1:]
    if program[0] == "--":
        program = program[1:]
    directory = tempfile.mkdtemp(prefix="itemdb-clients-")
    address_file = os.path.join(directory, "address.json")
    daemon = subprocess.Popen(
        [itemd, "--data-dir", os.path.join(directory, "data"), "--listen", "127.0.0.1:0",
         "--http-listen", "127.0.0.1:0", "--address-file", address_file])
    try:
        address = wait_for_address(daemon, address_file)
        code = subprocess.run(program, env=environment(address, directory), check=False).returncode
        daemon.send_signal(signal.SIGTERM)
        ended = daemon.wait(STOP_SECONDS)
        if ended != 0:
            sys.exit(f"itemd ended with exit code {ended}")
        sys.exit(code)
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
