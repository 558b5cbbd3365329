"""Reads an export as a program would that knows only the layout, and checks every file of it.

Arguments: the folder of the bucket, the key of manifest-summary.json; and --being-ended if itemdb-manifest.json, the last
file, need not be there yet, or not whole.
stdout: one JSON document: {"summary": the summary, "lines": the lines of the data files, "items": the items, "changes":
the changes of an incremental export, {"Metadata", "Keys", "OldImage", "NewImage"}}; items and changes of an export in Ion
as in DynamoDB's JSON.
Exit code 1 and a sentence on stderr: the export is not whole or not as the layout says.

XPT-49: what others require of an export is required here too. scylla-migrator (readers/DynamoDBS3Export) and the validator
of Amazon's tools for DynamoDB begin with manifest-summary.json, find each file by its whole key in the bucket, read every
line of manifest-files.json and of the data files as a document of its own, take a summary without exportType for a full
export, want the .md5 files and md5Checksum to be Base64, the counts of the files to sum to that of the summary, a tableArn
that begins with arn:aws:dynamodb: and ends with the table's name, and one type in each value.
"""

import base64
import datetime
import gzip
import hashlib
import json
import pathlib
import re
import sys

# The tree stays as it is.
sys.dont_write_bytecode = True

import ion_text  # noqa: E402

FULL_MEMBERS = ["version", "exportArn", "startTime", "endTime", "tableArn", "tableId", "exportTime", "s3Bucket",
                "s3Prefix", "s3SseAlgorithm", "s3SseKmsKeyId", "manifestFilesS3Key", "billedSizeBytes", "itemCount",
                "outputFormat"]
INCREMENTAL_MEMBERS = (FULL_MEMBERS[:6] + ["exportFromTime", "exportToTime"] + FULL_MEMBERS[7:] +
                       ["outputView", "exportType"])
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")


def check(condition, sentence):
    if not condition:
        sys.exit(sentence)


def parse_json(text):
    def members_of(pairs):
        members = dict(pairs)
        check(len(members) == len(pairs), f"a member is there twice: {text}")
        return members

    return json.loads(text, object_pairs_hook=members_of)


def md5_text(content):
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def micros_of(time):
    parsed = datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    return (parsed - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def read_with_md5(bucket, key):
    content = (bucket / key).read_bytes()
    checksum = (bucket / key.replace(".json", ".md5")).read_text().strip()
    check(md5_text(content) == checksum, f"{key} is not the file of its .md5")
    return content.decode()


def read_summary(bucket, key):
    text = read_with_md5(bucket, key)
    check(text.endswith("\n") and text.count("\n") == 1, f"{key} is not one line")
    summary = parse_json(text)
    check(text == json.dumps(summary, separators=(",", ":")) + "\n", f"{key} is not compact")
    is_incremental = summary.get("exportType") == "INCREMENTAL_EXPORT"
    members = INCREMENTAL_MEMBERS if is_incremental else FULL_MEMBERS
    check(list(summary) == members, f"the summary has the members {list(summary)}")
    check(summary["version"] == ("2023-08-01" if is_incremental else "2020-06-30"), "the version is wrong")
    for name, value in summary.items():
        if name.endswith("Time"):
            check(TIME.fullmatch(value), f"{name} is {value}")
    check(bucket.name == summary["s3Bucket"], "the summary is of another bucket")
    for name in ("billedSizeBytes", "itemCount"):
        check(type(summary[name]) is int and summary[name] >= 0, f"{name} is {summary[name]}")
    check(re.fullmatch(r"arn:aws:dynamodb:[a-z0-9-]+:\d{12}:table/[a-zA-Z0-9_.-]+", summary["tableArn"]),
          f"tableArn is {summary['tableArn']}")
    check(summary["exportArn"].startswith(summary["tableArn"] + "/export/"), "exportArn is of another table")
    if is_incremental:
        check(summary["outputView"] in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"), f"outputView is {summary['outputView']}")
    return summary


def read_data_file(bucket, entry, data_folder, ending):
    key = entry["dataFileS3Key"]
    check(re.fullmatch(re.escape(data_folder) + "[a-z2-7]{26}" + re.escape(ending), key), f"a data file is {key}")
    content = (bucket / key).read_bytes()
    check(content.startswith(GZIP_HEADER), f"the gzip header of {key} is {content[:10].hex()}")
    raw = hashlib.md5(content).digest()
    check(entry["md5Checksum"] == base64.b64encode(raw).decode(), f"{key} has another MD5")
    check(entry["etag"] == hashlib.md5(raw).hexdigest() + "-1", f"{key} has another etag")
    text = gzip.decompress(content).decode()
    check(text == "" or text.endswith("\n"), f"{key} ends within a line")
    # Programs differ in what they take for the end of a line.
    check("\r" not in text, f"{key} has a carriage return")
    lines = text.split("\n")[:-1]
    check(len(lines) == entry["itemCount"], f"{key} has {len(lines)} lines, not {entry['itemCount']}")
    return lines


def check_own_manifest(bucket, folder, others):
    manifest = json.loads((bucket / (folder + "itemdb-manifest.json")).read_text())
    files = {file["key"]: file for file in manifest["files"]}
    check(set(files) == others, f"itemdb-manifest.json has other files: {sorted(set(files) ^ others)}")
    for key, file in files.items():
        content = (bucket / key).read_bytes()
        check(len(content) == file["bytes"], f"{key} has {len(content)} bytes")
        check(hashlib.sha256(content).hexdigest() == file["sha256"], f"{key} has another SHA-256")
    check(manifest["changeSequence"] > 0, "the export has no change sequence")


def check_base64(text):
    check(base64.b64encode(base64.b64decode(text, validate=True)).decode() == text, f"not padded Base64: {text}")


def check_value(value):
    check(isinstance(value, dict) and len(value) == 1, f"a value has not one type: {value}")
    (kind, content), = value.items()
    if kind == "S":
        check(isinstance(content, str), f"not a string: {value}")
    elif kind == "N":
        check(content == ion_text.plain_number(content), f"not a number as GetItem gives it: {value}")
    elif kind == "B":
        check_base64(content)
    elif kind == "BOOL":
        check(isinstance(content, bool), f"not a boolean: {value}")
    elif kind == "NULL":
        check(content is True, f"not a null: {value}")
    elif kind == "L":
        for element in content:
            check_value(element)
    elif kind == "M":
        check_item(content)
    else:
        check(kind in ("SS", "NS", "BS"), f"an unknown type: {value}")
        check(len(content) > 0 and len(set(content)) == len(content), f"an empty set, or one with equal elements: {value}")
        for element in content:
            check_value({kind[0]: element})


def check_item(item):
    for value in item.values():
        check_value(value)


def read_item(line, is_ion):
    document = ion_text.read_line(line) if is_ion else parse_json(line)
    check(list(document) == ["Item"], f"a line has the members {list(document)}")
    item = document["Item"]["M"] if is_ion else document["Item"]
    check_item(item)
    return item


def read_change(line, is_ion, summary):
    """XPT-44, XPT-47."""
    if is_ion:
        document = ion_text.read_line(line)
        check(list(document) == ["Record"] and list(document["Record"]) == ["M"], f"a line has the members {list(document)}")
        change = {name: value["M"] for name, value in document["Record"]["M"].items()}
    else:
        change = parse_json(line)
    new_only = summary["outputView"] == "NEW_IMAGE"
    shapes = [["NewImage"], []] if new_only else [["NewImage"], ["OldImage", "NewImage"], ["OldImage"]]
    check(list(change) in [["Metadata", "Keys", *images] for images in shapes], f"a change has the members {list(change)}")
    check(list(change["Metadata"]) == ["WriteTimestampMicros"], f"Metadata is {change['Metadata']}")
    time = change["Metadata"]["WriteTimestampMicros"]
    check(list(time) == ["N"] and re.fullmatch(r"\d{16}", time["N"]), f"WriteTimestampMicros is {time}")
    begin, end = micros_of(summary["exportFromTime"]), micros_of(summary["exportToTime"])
    check(begin <= int(time["N"]) < end, f"{time['N']} is not from {begin} to before {end}")
    check(1 <= len(change["Keys"]) <= 2, f"Keys has {len(change['Keys'])} attributes")
    for name, value in change["Keys"].items():
        check(list(value)[0] in ("S", "N", "B"), f"the key {name} is {value}")
    for part in list(change)[1:]:
        check_item(change[part])
        # A projection may leave keys out of images.
        for name in change["Keys"].keys() & change[part].keys():
            check(change[part][name] == change["Keys"][name], f"{part} has other keys than Keys: {line}")
    return change


def main():
    bucket = pathlib.Path(sys.argv[1])
    summary_key = sys.argv[2]
    summary = read_summary(bucket, summary_key)
    is_incremental = "exportType" in summary
    is_ion = summary["outputFormat"] == "ION"
    prefix = summary["s3Prefix"] or ""
    base = prefix + ("" if prefix == "" or prefix.endswith("/") else "/") + "AWSDynamoDB/"
    export_id = summary["exportArn"].rsplit("/", 1)[1]
    folder = base + export_id + "/"
    check(re.fullmatch(r"\d{14}-[0-9a-f]{8}", export_id), f"the id is {export_id}")
    check(summary_key == folder + "manifest-summary.json", f"the summary is {summary_key}")
    check(summary["manifestFilesS3Key"] == folder + "manifest-files.json", "manifestFilesS3Key is wrong")
    check((bucket / (folder + "_started")).read_bytes() == b"", "_started is not empty")

    data_folder = (base if is_incremental else folder) + "data/"
    ending = {"DYNAMODB_JSON": ".json.gz", "ION": ".ion.gz"}[summary["outputFormat"]]
    manifest = read_with_md5(bucket, summary["manifestFilesS3Key"])
    check(manifest.endswith("\n"), "manifest-files.json ends within a line")
    files = [parse_json(line) for line in manifest.split("\n")[:-1]]
    lines = []
    for entry in files:
        check(list(entry) == ["itemCount", "md5Checksum", "etag", "dataFileS3Key"], f"an entry is {entry}")
        lines += read_data_file(bucket, entry, data_folder, ending)
    check(len(lines) == summary["itemCount"], f"{len(lines)} lines, not {summary['itemCount']}")

    keys = {entry["dataFileS3Key"] for entry in files}
    check(len(keys) == len(files), "a data file is listed twice")
    others = keys | {folder + name for name in ("_started", "manifest-files.json", "manifest-files.md5",
                                                "manifest-summary.json", "manifest-summary.md5")}
    own = folder + "itemdb-manifest.json"
    has_own = (bucket / own).exists() or "--being-ended" not in sys.argv[3:]
    if has_own:
        check_own_manifest(bucket, folder, others)
    present = {str(path.relative_to(bucket)) for path in (bucket / folder).rglob("*") if path.is_file()}
    if not has_own:
        # It gets its name when it is whole.
        present.discard(own + ".partial")
    wanted = {key for key in others if key.startswith(folder)} | ({own} if has_own else set())
    check(present == wanted, f"files that do not belong to the export, or are missing: {sorted(present ^ wanted)}")

    items = []
    changes = []
    if is_incremental:
        changes = [read_change(line, is_ion, summary) for line in lines]
        # XPT-45: one line for each key.
        changed = {json.dumps(change["Keys"], sort_keys=True) for change in changes}
        check(len(changed) == len(changes), "a key has two lines")
    else:
        items = [read_item(line, is_ion) for line in lines]
    json.dump({"summary": summary, "lines": lines, "items": items, "changes": changes}, sys.stdout)


if __name__ == "__main__":
    try:
        main()
    except (ion_text.IonError, OSError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
