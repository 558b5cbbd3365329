"""Writes an export of random items as DynamoDB would, with nothing but the description of its layout: full, gzip, several
data files of which some are empty.

Arguments: the folder of the bucket, DYNAMODB_JSON or ION, the number of items, a number that the random choices depend on.
stdout: one JSON document: {"data": the prefix of the data files, "manifest": the key of manifest-summary.json, "items": the items in DynamoDB's JSON}
Items have the keys pk (S) and sk (N).
"""

import base64
import datetime
import hashlib
import json
import pathlib
import random
import struct
import sys
import zlib

# The tree stays as it is.
sys.dont_write_bytecode = True

import ion_text  # noqa: E402

FILES = 6
EMPTY_FILES = 2
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")
TABLE = "arn:aws:dynamodb:eu-central-1:123456789012:table/Things"
# Texts that need quotes, escapes, or more than one byte; names that are words or symbols of Ion.
CHARACTERS = ["\0", "\x01", "\t", "\n", "\r", "\x1f", "\x7f", "a", "Z", "9", " ", "_", "$", "'", '"', "\\", "/", "{", "}",
              "[", "]", ":", ",", ".", "é", "\x85", "߿", "ࠀ", "\u2028", "\ud7ff", "\uffff", "\U00010000", "\U0010ffff"]
NAMES = ["null", "true", "false", "nan", "$ion_1_0", "$10", "Item", "S", "N", "a b", "c'd", 'e"f', "9", "日本"]


class Items:
    def __init__(self, choose):
        self.choose = choose

    def text(self, most):
        return "".join(self.choose.choices(CHARACTERS, k=self.choose.randint(0, most)))

    def binary(self, most):
        return base64.b64encode(self.choose.randbytes(self.choose.randint(0, most))).decode()

    def number(self):
        digits = str(self.choose.randint(1, 10 ** self.choose.randint(1, 38) - 1))
        exponent = self.choose.choice([0, 0, self.choose.randint(-len(digits), 4), self.choose.randint(-130, 125)])
        exponent = max(-130, min(exponent, 126 - len(digits)))
        number = self.choose.choice(["0", "600", f"{digits}e{exponent}", f"-{digits}e{exponent}"])
        return ion_text.plain_number(number)

    def set_of(self, make):
        return list({make(): None for _ in range(self.choose.randint(1, 5))})

    def value(self, depth):
        kind = self.choose.choice(["S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL"] + ["L", "M"] * (depth < 4))
        return {kind: {
            "S": lambda: self.text(60), "N": self.number, "B": lambda: self.binary(60),
            "SS": lambda: self.set_of(lambda: self.text(4)), "NS": lambda: self.set_of(self.number),
            "BS": lambda: self.set_of(lambda: self.binary(4)),
            "BOOL": lambda: self.choose.random() < 0.5, "NULL": lambda: True,
            "L": lambda: [self.value(depth + 1) for _ in range(self.choose.randint(0, 4))],
            "M": lambda: self.attributes(depth + 1)}[kind]()}

    def name(self):
        return self.choose.choice(NAMES) if self.choose.random() < 0.4 else self.text(6) or "empty"

    def attributes(self, depth):
        return {self.name(): self.value(depth) for _ in range(self.choose.randint(0, 5))}

    def item(self, number):
        members = list(self.attributes(0).items()) + [("pk", {"S": f"p{number % 7}{self.text(2)}"}),
                                                      ("sk", {"N": str(number)})]
        # Attributes have no order.
        self.choose.shuffle(members)
        return dict(members)


def md5_text(content):
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def gzip_member(content):
    compressor = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = compressor.compress(content) + compressor.flush()
    return GZIP_HEADER + body + struct.pack("<II", zlib.crc32(content), len(content))


def main():
    bucket = pathlib.Path(sys.argv[1])
    export_format = sys.argv[2]
    count = int(sys.argv[3])
    choose = random.Random(int(sys.argv[4]))
    is_ion = export_format == "ION"
    maker = Items(choose)
    items = [maker.item(number) for number in range(count)]
    files = [[] for _ in range(FILES)]
    for item in items:
        files[choose.randrange(FILES - EMPTY_FILES)].append(item)

    # A moment of no meaning.
    begun = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    time = begun.strftime("%Y-%m-%dT%H:%M:%S.") + "678Z"
    export_id = f"{int(begun.timestamp()) * 1000 + 678:014d}-{choose.getrandbits(32):08x}"
    prefix = f"from aws {export_format}"
    folder = f"{prefix}/AWSDynamoDB/{export_id}/"
    (bucket / folder / "data").mkdir(parents=True)
    (bucket / folder / "_started").write_bytes(b"")

    entries = []
    for content in files:
        lines = [ion_text.write_line("Item", item, choose) if is_ion else
                 json.dumps({"Item": item}, ensure_ascii=choose.random() < 0.5, separators=(",", ":")) for item in content]
        data = gzip_member("".join(line + "\n" for line in lines).encode())
        name = base64.b32encode(choose.randbytes(16)).decode().rstrip("=").lower()
        key = f"{folder}data/{name}.{'ion' if is_ion else 'json'}.gz"
        (bucket / key).write_bytes(data)
        entries.append({"itemCount": len(content), "md5Checksum": md5_text(data),
                        "etag": hashlib.md5(hashlib.md5(data).digest()).hexdigest() + "-1", "dataFileS3Key": key})

    def write_manifest(name, text):
        (bucket / (folder + name + ".json")).write_text(text)
        (bucket / (folder + name + ".md5")).write_text(md5_text(text.encode()))

    write_manifest("manifest-files", "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))
    write_manifest("manifest-summary", json.dumps({
        "version": "2020-06-30", "exportArn": f"{TABLE}/export/{export_id}", "startTime": time, "endTime": time,
        "tableArn": TABLE, "tableId": "12345a12-abcd-123a-ab12-1234abc12345", "exportTime": time, "s3Bucket": bucket.name,
        "s3Prefix": prefix, "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": None,
        "manifestFilesS3Key": folder + "manifest-files.json", "billedSizeBytes": 0, "itemCount": count,
        "outputFormat": export_format}, separators=(",", ":")) + "\n")
    json.dump({"data": folder + "data/", "manifest": folder + "manifest-summary.json", "items": items}, sys.stdout)


if __name__ == "__main__":
    main()
