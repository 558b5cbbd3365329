"""Makes the calls that it reads from stdin with Python's gRPC, and prints the replies as Python's protobuf parses them.

stdin, a line a call:  <full method> <hex of the request>
stdout, a line a call: {"method": ..., "bytes": <hex of the reply, serialized again>, "json": <the reply>}
or, for an error:      {"method": ..., "code": ..., "message": ..., "reason": ...}

Arguments: the directory of the generated classes, the daemon's endpoint.
"""

import importlib
import json
import sys

import grpc
from google.protobuf import json_format

sys.path.insert(0, sys.argv[1])
modules = {
    service: importlib.import_module(f"itemdb.v1.{service.lower()}_pb2")
    for service in ("Data", "Tables", "Changes", "Admin")
}
errors = importlib.import_module("itemdb.v1.errors_pb2")


def call(channel, method, request):
    service = method.split("/")[0].split(".")[-1]
    reply_class = getattr(modules[service], method.split("/")[1] + "Reply")
    try:
        data = channel.unary_unary("/" + method)(request, timeout=60)
    except grpc.RpcError as error:
        detail = errors.ErrorDetail()
        for key, value in error.trailing_metadata():
            if key == "grpc-status-details-bin":
                detail.ParseFromString(value)
        return {
            "method": method,
            "code": error.code().value[0],
            "message": error.details(),
            "reason": detail.reason,
        }
    reply = reply_class.FromString(data)
    # Unknown fields would be kept in the bytes but not be in the JSON. They are discarded, so that the bytes
    # differ from those of C++.
    known = reply_class.FromString(data)
    known.DiscardUnknownFields()
    return {
        "method": method,
        "bytes": known.SerializeToString(deterministic=True).hex(),
        "json": json.loads(json_format.MessageToJson(known, preserving_proto_field_name=True)),
    }


with grpc.insecure_channel(sys.argv[2]) as channel:
    for line in sys.stdin:
        method, request = line.rstrip("\n").split(" ")
        print(json.dumps(call(channel, method, bytes.fromhex(request))))
