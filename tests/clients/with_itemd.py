#!/usr/bin/python3
"""Starts itemd on an empty directory, runs a program with its HTTP endpoint, and stops itemd.

with_itemd.py ITEMD [--secure] [--] PROGRAM [ARGUMENT]...

The environment of the program has the endpoint in AWS_ENDPOINT_URL_DYNAMODB, and credentials and a region for it.
The exit code is that of the program, unless itemd does not end cleanly.

With --secure itemd uses TLS and requires access keys. AWS_CA_BUNDLE names the certificate of the authority, and
ITEMDB_TEST_KEYS the key file. The key file has one key for each role, READER, WRITER and ADMIN, with the secret
SECRET. The program has the credentials of ADMIN.
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

SECRET = "a secret of all three keys"


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
        # Prevents the AWS libraries from looking for credentials and settings elsewhere.
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "no_proxy": "127.0.0.1,localhost",
    }
    for name in ("ITEMDB_ORDER_ENTRY", "PYTHONDONTWRITEBYTECODE"):
        if name in os.environ:
            result[name] = os.environ[name]
    return result


def write_key_file(path, keys):
    """Replaces the key file atomically; keys are (id, secret, role)."""
    made = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(made, "w", encoding="utf-8") as file:
        for key_id, secret, role in keys:
            file.write(f'[[key]]\nid = "{key_id}"\nsecret = "{secret}"\nrole = "{role}"\n')
    os.rename(path + ".new", path)


def make_certificate(path):
    """Writes a self-signed certificate for localhost to PATH.pem, and its key to PATH.key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", path + ".key", "-out", path + ".pem"],
        check=True, capture_output=True)


def make_secure(directory):
    """The additional arguments of itemd, and the additional environment of the program."""
    identity = os.path.join(directory, "itemd")
    certificate, key = identity + ".pem", identity + ".key"
    make_certificate(identity)
    keys = os.path.join(directory, "keys.toml")
    write_key_file(keys, [("READER", SECRET, "read"), ("WRITER", SECRET, "write"), ("ADMIN", SECRET, "admin")])
    arguments = ["--tls-cert", certificate, "--tls-key", key, "--access-keys", keys, "--tls-reload-interval", "1s"]
    return arguments, {"AWS_CA_BUNDLE": certificate, "ITEMDB_TEST_KEYS": keys, "AWS_ACCESS_KEY_ID": "ADMIN",
                       "AWS_SECRET_ACCESS_KEY": SECRET}


def main():
    itemd, *program = sys.argv[1:]
    secure = program[0] == "--secure"
    program = program[1 if secure else 0:]
    if program[0] == "--":
        program = program[1:]
    directory = tempfile.mkdtemp(prefix="itemdb-clients-")
    address_file = os.path.join(directory, "address.json")
    arguments, more_environment = make_secure(directory) if secure else ([], {})
    daemon = subprocess.Popen(
        [itemd, "--data-dir", os.path.join(directory, "data"), "--listen", "127.0.0.1:0",
         "--http-listen", "127.0.0.1:0", "--address-file", address_file, *arguments])
    try:
        address = wait_for_address(daemon, address_file)
        variables = {**environment(address, directory), **more_environment}
        if secure:
            variables["AWS_ENDPOINT_URL_DYNAMODB"] = "https://localhost:" + address.rsplit(":", 1)[1]
        code = subprocess.run(program, env=variables, check=False).returncode
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
