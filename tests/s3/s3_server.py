#!/usr/bin/python3
"""A small S3 server for tests. It checks what S3 checks, and fails when a test asks for it.

s3_server.py DIRECTORY [--certificate FILE --key FILE]

Serves on a port of the loopback address that the kernel chooses, until it is killed. In DIRECTORY are:

  address.json     {"http": ["127.0.0.1:PORT"], ...}, written once it serves
  buckets/         a bucket is a folder in it, and an object a file below that
  uploads/ID/      an upload of parts that has not ended: key, bucket, and a file for each part
  requests         a line for each request: METHOD TARGET STATUS
  faults           written by tests: a JSON list of faults (below); read again when it changes

A fault is {"method": "PUT", "target": "a part of the target", "times": 2, "skip": 1, "action": ACTION}: the first
`skip` requests that it fits are served, the next `times` are not. All but the action may be missing. Actions:

  "500", "503", "429", "403", "404"   that status, with the code of the member "code"
  "cut"          closes the connection before the request is served
  "lose"         serves the request, and closes the connection instead of replying
  "half"         sends half of the body of the reply, and closes the connection
  "late-error"   answers 200 with an XML document <Error>, of the code of the member "code"
  "hang"         does not answer
"""

import base64
import calendar
import hashlib
import hmac
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree
from xml.sax.saxutils import escape

KEY_ID = "AKIDTEST"
SECRET = "the secret/of+tests"
REGION = "test-region-1"
MIN_PART_BYTES = 5 << 20
PAGE = 3  # Objects or uploads in a page of a list.
MAX_SKEW_S = 15 * 60


class Refusal(Exception):
    def __init__(self, status, code, message="refused by the test"):
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


def hmac_of(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def etag_of(data):
    return '"' + hashlib.md5(data).hexdigest() + '"'


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.rename(path + ".new", path)


class Store:
    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()
        self.faults, self.faults_seen = [], None
        # By path: those of objects that were uploaded in parts.
        self.etags = {}
        self.next_upload = 0

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def fault_for(self, method, target):
        with self.lock:
            try:
                text = read(self.path("faults")).decode()
            except FileNotFoundError:
                text = "[]"
            if text != self.faults_seen:
                self.faults, self.faults_seen = json.loads(text), text
            for fault in self.faults:
                if fault.get("method", method) != method or fault.get("target", "") not in target:
                    continue
                if fault.get("skip", 0) > 0:
                    fault["skip"] -= 1
                    continue
                if fault.get("times", 1 << 30) > 0:
                    fault["times"] = fault.get("times", 1 << 30) - 1
                    return fault
        return None

    def log(self, method, target, status):
        with self.lock, open(self.path("requests"), "a", encoding="utf-8") as file:
            file.write(f"{method} {target} {status}\n")

    def etag(self, path):
        return self.etags.get(path) or etag_of(read(path))

    def uploads(self):
        found = []
        root = self.path("uploads")
        for upload in sorted(os.listdir(root)) if os.path.isdir(root) else []:
            try:
                found.append((read(os.path.join(root, upload, "key")).decode(), upload,
                              read(os.path.join(root, upload, "bucket")).decode()))
            except FileNotFoundError:
                pass
        return sorted(found)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def log_message(self, *_):
        pass

    # ---- one request

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.store.fault_for(self.command, self.path)
        action = fault["action"] if fault else None
        if action == "hang":
            time.sleep(3600)
        if action == "cut":
            return self.cut("cut")
        try:
            if action and action.isdigit():
                raise Refusal(int(action), fault.get("code", "InternalError"))
            self.check_signature(body)
            if action == "late-error":
                raise Refusal(200, fault.get("code", "InternalError"))
            status, headers, reply = self.answer(body)
        except Refusal as refusal:
            status, headers = refusal.status, {"Content-Type": "application/xml"}
            reply = (f"<?xml version=\"1.0\"?><Error><Code>{refusal.code}</Code>"
                     f"<Message>{escape(refusal.message)}</Message></Error>").encode()
        if action == "lose":
            return self.cut("lost")
        self.store.log(self.command, self.path, status)
        self.send_response(status)
        headers.setdefault("Content-Length", str(len(reply)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply[:len(reply) // 2] if action == "half" else reply)
        if action == "half":
            self.wfile.flush()
            self.close_connection = True

    def cut(self, word):
        self.store.log(self.command, self.path, word)
        self.close_connection = True

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve

    # ---- Signature Version 4, as its documentation describes it

    def check_signature(self, body):
        authorization = self.headers.get("Authorization", "")
        algorithm, _, rest = authorization.partition(" ")
        if algorithm != "AWS4-HMAC-SHA256":
            raise Refusal(403, "AccessDenied", "the request is not signed")
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        key_id, date, region, service, end = parts["Credential"].split("/")
        if key_id != KEY_ID:
            raise Refusal(403, "InvalidAccessKeyId", "the key does not exist")
        if region != REGION:
            raise Refusal(400, "AuthorizationHeaderMalformed", f"the region is {REGION}")
        stamp = self.headers["x-amz-date"]
        skew = calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) - time.time()
        if abs(skew) > MAX_SKEW_S:
            raise Refusal(403, "RequestTimeTooSkewed", "the difference is too large")
        path, _, query = self.path.partition("?")
        if urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~") != path:
            raise Refusal(400, "InvalidURI", "the path is not encoded as it is signed")
        parameters = sorted((urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~"))
                            for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True))
        names = parts["SignedHeaders"].split(";")
        content_hash = self.headers["x-amz-content-sha256"]
        canonical = "\n".join([
            self.command, path, "&".join(f"{name}={value}" for name, value in parameters),
            *(f"{name}:{' '.join(self.headers[name].split())}" for name in names), "", ";".join(names), content_hash])
        to_sign = "\n".join([algorithm, stamp, f"{date}/{region}/{service}/{end}",
                             hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + SECRET).encode()
        for part in (date, region, service, end):
            key = hmac_of(key, part)
        must_be_signed = [name.lower() for name in self.headers if name.lower().startswith("x-amz-")] + ["host"]
        if hmac_of(key, to_sign).hex() != parts["Signature"] or not set(must_be_signed) <= set(names):
            raise Refusal(403, "SignatureDoesNotMatch", "the signature is another one")
        if hashlib.sha256(body).hexdigest() != content_hash:
            raise Refusal(400, "XAmzContentSHA256Mismatch", "the body is another one")
        md5 = self.headers.get("Content-MD5")
        if md5 and base64.b64decode(md5) != hashlib.md5(body).digest():
            raise Refusal(400, "BadDigest", "the body is damaged")

    # ---- operations

    def answer(self, body):
        path, _, query = self.path.partition("?")
        parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        _, bucket, *key = urllib.parse.unquote(path).split("/", 2)
        folder = self.store.path("buckets", bucket)
        if not bucket or not os.path.isdir(folder):
            raise Refusal(404, "NoSuchBucket", "the bucket does not exist")
        if os.path.exists(self.store.path("buckets", bucket + ".forbidden")):
            raise Refusal(403, "AccessDenied", "not for you")
        if not key or not key[0]:
            return self.list_uploads(bucket, parameters) if "uploads" in parameters else self.list(folder, parameters)
        file = os.path.join(folder, key[0])
        if self.command == "POST" and "uploads" in parameters:
            return self.begin_upload(bucket, key[0])
        if "uploadId" in parameters:
            return self.on_upload(parameters, file, body)
        if self.command == "PUT":
            write(file, body)
            self.store.etags.pop(file, None)
            return 200, {"ETag": etag_of(body)}, b""
        if self.command == "DELETE":
            if os.path.exists(file):
                os.remove(file)
            return 204, {}, b""
        if not os.path.isfile(file):
            raise Refusal(404, "NoSuchKey", "the object does not exist")
        return self.get(file)

    def get(self, file):
        data, headers = read(file), {"ETag": self.store.etag(file)}
        match = self.headers.get("If-Match")
        if match and match != headers["ETag"]:
            raise Refusal(412, "PreconditionFailed", "the object is another one")
        if self.command == "HEAD":
            return 200, {**headers, "Content-Length": str(len(data))}, b""
        wanted = self.headers.get("Range")
        if not wanted:
            return 200, headers, data
        first, last = (int(number) for number in wanted[len("bytes="):].split("-"))
        last = min(last, len(data) - 1)
        if first > last:
            raise Refusal(416, "InvalidRange", "the object is shorter")
        return 206, {**headers, "Content-Range": f"bytes {first}-{last}/{len(data)}"}, data[first:last + 1]

    def list(self, folder, parameters):
        prefix = parameters.get("prefix", "")
        keys = []
        for root, _, names in os.walk(folder):
            keys += [os.path.relpath(os.path.join(root, name), folder) for name in names if not name.endswith(".new")]
        keys = sorted(key for key in keys
                      if key.startswith(prefix) and key > parameters.get("continuation-token", ""))
        page = keys[:PAGE]
        contents = ""
        for key in page:
            file = os.path.join(folder, key)
            modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(os.path.getmtime(file)))
            contents += (f"<Contents><Key>{urllib.parse.quote_plus(key, safe='/')}</Key>"
                         f"<LastModified>{modified}</LastModified>"
                         f"<ETag>{escape(self.store.etag(file), {chr(34): '&quot;'})}</ETag>"
                         f"<Size>{os.path.getsize(file)}</Size></Contents>")
        more = len(keys) > len(page)
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        return 200, {}, (f"<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                         f"<EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>{token}"
                         f"{contents}</ListBucketResult>").encode()

    def list_uploads(self, bucket, parameters):
        after = (parameters.get("key-marker", ""), parameters.get("upload-id-marker", ""))
        uploads = [(key, upload) for key, upload, of in self.store.uploads()
                   if of == bucket and key.startswith(parameters.get("prefix", "")) and (key, upload) > after]
        page = uploads[:PAGE]
        more = len(uploads) > len(page)
        text = "".join(f"<Upload><Key>{urllib.parse.quote_plus(key, safe='/')}</Key><UploadId>{upload}</UploadId></Upload>"
                       for key, upload in page)
        if more:
            text += (f"<NextKeyMarker>{urllib.parse.quote_plus(page[-1][0], safe='/')}</NextKeyMarker>"
                     f"<NextUploadIdMarker>{page[-1][1]}</NextUploadIdMarker>")
        return 200, {}, (f"<ListMultipartUploadsResult><EncodingType>url</EncodingType>{text}"
                         f"<IsTruncated>{str(more).lower()}</IsTruncated></ListMultipartUploadsResult>").encode()

    def begin_upload(self, bucket, key):
        with self.store.lock:
            self.store.next_upload += 1
            upload = f"{int(time.time() * 1000)}-{self.store.next_upload}"
        write(self.store.path("uploads", upload, "bucket"), bucket.encode())
        write(self.store.path("uploads", upload, "key"), key.encode())
        return 200, {}, f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>".encode()

    def on_upload(self, parameters, file, body):
        folder = self.store.path("uploads", os.path.basename(parameters["uploadId"]))
        if not os.path.isdir(folder):
            raise Refusal(404, "NoSuchUpload", "the upload does not exist")
        if self.command == "PUT":
            write(os.path.join(folder, parameters["partNumber"]), body)
            return 200, {"ETag": etag_of(body)}, b""
        if self.command == "POST":
            self.complete(folder, file, body)
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)
        if self.command == "POST":
            return 200, {}, b"<CompleteMultipartUploadResult/>"
        return 204, {}, b""

    def complete(self, folder, file, body):
        parts = [(part.find("{*}PartNumber").text, part.find("{*}ETag").text)
                 for part in xml.etree.ElementTree.fromstring(body).findall("{*}Part")]
        data, md5s = b"", b""
        for number, etag in parts:
            part = read(os.path.join(folder, number))
            if etag_of(part) != etag:
                raise Refusal(400, "InvalidPart", f"the part {number} is another one")
            if number != parts[-1][0] and len(part) < MIN_PART_BYTES:
                raise Refusal(400, "EntityTooSmall", f"the part {number} is too small")
            data += part
            md5s += hashlib.md5(part).digest()
        write(file, data)
        self.store.etags[file] = f'"{hashlib.md5(md5s).hexdigest()}-{len(parts)}"'


def main():
    directory, *arguments = sys.argv[1:]
    Handler.store = Store(directory)
    os.makedirs(os.path.join(directory, "buckets"), exist_ok=True)
    http.server.ThreadingHTTPServer.daemon_threads = True
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if arguments:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments[1], arguments[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    write(os.path.join(directory, "address.json"),
          json.dumps({"grpc": [], "http": [f"127.0.0.1:{server.server_port}"], "metrics": []}).encode())
    server.serve_forever()


if __name__ == "__main__":
    main()
