"""Makes the calls that it reads from stdin with Python's gRPC, and prints the replies as Python's protobuf parses them.

stdin, a line a call:  <full method> <hex of the request>
stdout, a line a call: {"method": ..., "bytes": <hex of the reply, serialized again>, "json": <the reply>}
or, for an error:      {"method": ..., "code": ..., "message": ..., "status": <the google.rpc.Status>}

Arguments: the directory of the generated classes, the daemon's endpoint.
"""

import importlib
import json
import sys

import google
import grpc
from google.protobuf import json_format

sys.path.insert(0, sys.argv[1])
# The generated google.rpc is in another folder than the installed google.protobuf.
google.__path__.append(sys.argv[1] + "/google")
modules = {
    service: importlib.import_module(f"itemdb.v1.{service.lower()}_pb2")
    for service in ("Data", "Tables", "Changes", "Admin")
}
rpc_status = importlib.import_module("google.rpc.status_pb2")
importlib.import_module("google.rpc.error_details_pb2")  # The messages packed in the details.


def call(channel, method, request):
    service = method.split("/")[0].split(".")[-1]
    reply_class = getattr(modules[service], method.split("/")[1] + "Reply")
    try:
        data = channel.unary_unary("/" + method)(request, timeout=60)
    except grpc.RpcError as error:
        # One trailer only: libraries refuse a status with two.
        [details] = [value for key, value in error.trailing_metadata() if key == "grpc-status-details-bin"]
        status = rpc_status.Status.FromString(details)
        return {
            "method": method,
            "code": error.code().value[0],
            "message": error.details(),
            "status": json.loads(json_format.MessageToJson(status)),
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
