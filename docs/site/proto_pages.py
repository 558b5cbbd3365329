#!/usr/bin/env python3
"""Writes a Markdown page for each file of a descriptor set: its services, messages and enums, with their comments.

    protoc --include_imports --include_source_info --descriptor_set_out=SET -Iproto proto/itemdb/v1/*.proto
    proto_pages.py SET FOLDER
"""
import pathlib
import re
import sys

from google.protobuf import descriptor_pb2

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {Field.TYPE_DOUBLE: "double", Field.TYPE_FLOAT: "float", Field.TYPE_INT64: "int64", Field.TYPE_UINT64: "uint64",
           Field.TYPE_INT32: "int32", Field.TYPE_FIXED64: "fixed64", Field.TYPE_FIXED32: "fixed32", Field.TYPE_BOOL: "bool",
           Field.TYPE_STRING: "string", Field.TYPE_BYTES: "bytes", Field.TYPE_UINT32: "uint32",
           Field.TYPE_SFIXED32: "sfixed32", Field.TYPE_SFIXED64: "sfixed64", Field.TYPE_SINT32: "sint32",
           Field.TYPE_SINT64: "sint64"}
# Paths in source_code_info: numbers of fields in descriptor.proto.
MESSAGE, ENUM, SERVICE = 4, 5, 6
FIELD_OF_MESSAGE, NESTED, ENUM_OF_MESSAGE = 2, 3, 4
VALUE_OF_ENUM = METHOD_OF_SERVICE = 2


def anchor(name):
    return "proto_" + re.sub(r"\W", "_", name.strip("."))


def escaped(text):
    """Text in which Doxygen finds no commands, tags, links or tables."""
    return re.sub(r"([\\@<>&#|*_`\[\]])", r"\\\1", text)


class Page:
    def __init__(self, file):
        self.file = file
        self.comments = {tuple(l.path): (l.leading_comments or l.trailing_comments) for l in file.source_code_info.location}
        self.lines = []

    def comment(self, path):
        return self.comments.get(tuple(path), "").strip("\n")

    def paragraph(self, path):
        self.lines += [escaped(line.strip()) for line in self.comment(path).split("\n")] + [""]

    def cell(self, path):
        return escaped(" ".join(self.comment(path).split()))

    def type_of(self, field, nested_maps):
        if field.type_name in nested_maps:
            key, value = nested_maps[field.type_name].field
            return f"map of {self.type_of(key, {})} to {self.type_of(value, {})}"
        name = SCALARS.get(field.type) or self.reference(field.type_name)
        if field.label == Field.LABEL_REPEATED:
            return "repeated " + name
        return "optional " + name if field.proto3_optional else name

    @staticmethod
    def reference(type_name):
        if not type_name.startswith(".itemdb."):
            return escaped(type_name.strip("."))
        return f"\\ref {anchor(type_name)} \"{type_name.rsplit('.', 1)[1]}\""

    def heading(self, level, kind, name):
        self.lines += [f"{'#' * level} {kind} {escaped(name.rsplit('.', 1)[1])} {{#{anchor(name)}}}", ""]

    def service(self, service, path):
        name = f".{self.file.package}.{service.name}"
        self.heading(2, "service", name)
        self.paragraph(path)
        for i, method in enumerate(service.method):
            self.lines += [f"### {method.name} {{#{anchor(name + '.' + method.name)}}}", ""]
            self.lines += [
                f"{'stream of ' if method.client_streaming else ''}{self.reference(method.input_type)} -> "
                f"{'stream of ' if method.server_streaming else ''}{self.reference(method.output_type)}", ""]
            self.paragraph(path + [METHOD_OF_SERVICE, i])

    def message(self, message, path, scope):
        name = f"{scope}.{message.name}"
        maps = {f"{name}.{m.name}": m for m in message.nested_type if m.options.map_entry}
        self.heading(2, "message", name)
        self.paragraph(path)
        if message.field:
            self.lines += ["| field | type | |", "|---|---|---|"]
        for i, field in enumerate(message.field):
            self.lines.append(f"| {escaped(field.name)} = {field.number} | {self.type_of(field, maps)} | "
                              f"{self.cell(path + [FIELD_OF_MESSAGE, i])} |")
        self.lines.append("")
        for i, nested in enumerate(message.nested_type):
            if not nested.options.map_entry:
                self.message(nested, path + [NESTED, i], name)
        for i, enum in enumerate(message.enum_type):
            self.enum(enum, path + [ENUM_OF_MESSAGE, i], name)

    def enum(self, enum, path, scope):
        self.heading(2, "enum", f"{scope}.{enum.name}")
        self.paragraph(path)
        self.lines += ["| value | number | |", "|---|---|---|"]
        for i, value in enumerate(enum.value):
            self.lines.append(f"| {escaped(value.name)} | {value.number} | {self.cell(path + [VALUE_OF_ENUM, i])} |")
        self.lines.append("")

    def text(self):
        self.lines = [f"# {self.file.name} {{#{anchor(self.file.name)}}}", ""]
        scope = "." + self.file.package
        for i, service in enumerate(self.file.service):
            self.service(service, [SERVICE, i])
        for i, message in enumerate(self.file.message_type):
            self.message(message, [MESSAGE, i], scope)
        for i, enum in enumerate(self.file.enum_type):
            self.enum(enum, [ENUM, i], scope)
        return "\n".join(self.lines) + "\n"


def main(descriptor_set, folder):
    files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(descriptor_set).read_bytes()).file
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    own = [file for file in files if file.package.startswith("itemdb.")]
    for file in own:
        (folder / f"{anchor(file.name)}.md").write_text(Page(file).text())
    index = ["# The protos {#protos}", "", "The gRPC services of itemd, in the package `itemdb.v1`.", ""]
    index += [f"- \\subpage {anchor(file.name)} \"{file.name}\"" +
              (": " + ", ".join(f"{service.name}" for service in file.service) if file.service else "") for file in own]
    (folder / "protos.md").write_text("\n".join(index) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
