"""Reads an export as a program would that knows only the layout, and checks every file of it.

Arguments: the folder of the bucket, the key of manifest-summary.json; and --being-ended if itemdb-manifest.json, the last
file, need not be there yet, or not whole.
stdout: one JSON document: {"summary": the summary, "lines": the lines of the data files, "items": the items of lines in
JSON, or the documents of an incremental export}
Exit code 1 and a sentence on stderr: the export is not whole or not as the layout says.
"""

import base64
import gzip
import hashlib
import json
import pathlib
import re
import sys

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


def md5_text(content):
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def read_with_md5(bucket, key):
    content = (bucket / key).read_bytes()
    checksum = (bucket / key.replace(".json", ".md5")).read_text().strip()
    check(md5_text(content) == checksum, f"{key} is not the file of its .md5")
    return content.decode()


def read_summary(bucket, key):
    text = read_with_md5(bucket, key)
    check(text.endswith("\n") and text.count("\n") == 1, f"{key} is not one line")
    summary = json.loads(text)
    check(text == json.dumps(summary, separators=(",", ":")) + "\n", f"{key} is not compact")
    is_incremental = summary.get("exportType") == "INCREMENTAL_EXPORT"
    members = INCREMENTAL_MEMBERS if is_incremental else FULL_MEMBERS
    check(list(summary) == members, f"the summary has the members {list(summary)}")
    check(summary["version"] == ("2023-08-01" if is_incremental else "2020-06-30"), "the version is wrong")
    for name, value in summary.items():
        if name.endswith("Time"):
            check(TIME.fullmatch(value), f"{name} is {value}")
    check(bucket.name == summary["s3Bucket"], "the summary is of another bucket")
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


def main():
    bucket = pathlib.Path(sys.argv[1])
    summary_key = sys.argv[2]
    summary = read_summary(bucket, summary_key)
    is_incremental = "exportType" in summary
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
    files = [json.loads(line) for line in read_with_md5(bucket, summary["manifestFilesS3Key"]).splitlines()]
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

    if summary["outputFormat"] == "ION":
        items = []
    elif is_incremental:
        items = [json.loads(line) for line in lines]
    else:
        items = []
        for line in lines:
            document = json.loads(line)
            check(list(document) == ["Item"], f"a line has the members {list(document)}")
            items.append(document["Item"])
    json.dump({"summary": summary, "lines": lines, "items": items}, sys.stdout)


if __name__ == "__main__":
    main()
