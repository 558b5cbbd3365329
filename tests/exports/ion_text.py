"""DynamoDB's values in the Ion text of exports (XPT-46), written and read with nothing but its description.

A value is what DynamoDB's JSON has: {"S": "text"}, {"N": "8.5"}, ... A line is `$ion_1_0 {NAME:STRUCT}`.
"""

import base64
import decimal
import re

VERSION = "$ion_1_0 "
KEYWORDS = ("null", "true", "false", "nan")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "v": "\v", "?": "?", "/": "/",
           '"': '"', "'": "'", "\\": "\\"}
DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d*(?:[dD][+-]?\d+)?|[dD][+-]?\d+)")
# 38 digits, and exponents of three.
EXACT = decimal.Context(prec=400, traps=[decimal.Inexact, decimal.InvalidOperation])


class IonError(Exception):
    pass


def plain_number(text):
    """The number as GetItem gives it: no exponent, no zeros that say nothing."""
    plain = format(EXACT.create_decimal(text), "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "") else plain


class Reader:
    """One line."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def error(self, what):
        return IonError(f"{what} at character {self.at} of {self.text!r}")

    def next_is(self, token):
        return self.text.startswith(token, self.at)

    def skip(self, token):
        if not self.next_is(token):
            return False
        self.at += len(token)
        return True

    def need(self, token):
        if not self.skip(token):
            raise self.error(f"no {token!r}")

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def quoted(self, quote):
        self.need(quote)
        out = []
        while not self.skip(quote):
            if self.at >= len(self.text):
                raise self.error("an open quote")
            one = self.text[self.at]
            self.at += 1
            if one != "\\":
                if ord(one) < 0x20 and one != "\t":
                    raise self.error("a control character")
                out.append(one)
                continue
            kind = self.text[self.at:self.at + 1]
            self.at += 1
            if kind in ESCAPES and kind != "":
                out.append(ESCAPES[kind])
                continue
            digits = {"x": 2, "u": 4, "U": 8}.get(kind)
            code = self.text[self.at:self.at + (digits or 0)]
            if digits is None or not re.fullmatch(f"[0-9A-Fa-f]{{{digits}}}", code) or 0xD800 <= int(code, 16) < 0xE000:
                raise self.error("an unknown escape")
            out.append(chr(int(code, 16)))
            self.at += digits
        return "".join(out)

    def name(self):
        if self.next_is("'"):
            return self.quoted("'")
        if self.next_is('"'):
            raise self.error("a name that is a string")
        found = self.match(IDENTIFIER)
        if found is None or found[0] in KEYWORDS:
            raise self.error("no name")
        return found[0]

    def struct(self):
        self.need("{")
        members = {}
        if self.skip("}"):
            return members
        while True:
            name = self.name()
            if name in members:
                raise self.error(f"a second {name!r}")
            self.need(":")
            members[name] = self.value()
            if self.skip("}"):
                return members
            self.need(",")

    def list(self):
        self.need("[")
        elements = []
        if self.skip("]"):
            return elements
        while True:
            elements.append(self.value())
            if self.skip("]"):
                return elements
            self.need(",")

    def value(self):
        if self.next_is("$dynamodb_"):
            self.need("$dynamodb_")
            kind = self.match(re.compile("SS|NS|BS"))
            if kind is None:
                raise self.error("an unknown annotation")
            self.need("::")
            elements = self.list()
            if any(list(element) != [kind[0][0]] for element in elements):
                raise self.error("a set with an element of another type")
            return {kind[0]: [element[kind[0][0]] for element in elements]}
        if self.skip("{{"):
            blob = self.match(re.compile(r"[A-Za-z0-9+/]*={0,2}"))
            self.need("}}")
            if base64.b64encode(base64.b64decode(blob[0], validate=True)).decode() != blob[0]:
                raise self.error("Base64 that is not padded")
            return {"B": blob[0]}
        if self.next_is("{"):
            return {"M": self.struct()}
        if self.next_is("["):
            return {"L": self.list()}
        if self.next_is('"'):
            return {"S": self.quoted('"')}
        number = self.match(DECIMAL)
        if number is not None:
            return {"N": plain_number(number[0].replace("d", "e").replace("D", "e"))}
        word = self.match(IDENTIFIER)
        if word is not None and word[0] in ("true", "false"):
            return {"BOOL": word[0] == "true"}
        if word is not None and word[0] == "null":
            return {"NULL": True}
        raise self.error("no value")


def read_line(line):
    """The members of the line's struct."""
    reader = Reader(line)
    reader.need(VERSION)
    members = reader.struct()
    if reader.at != len(line):
        raise reader.error("something behind the struct")
    return members


def quote(text, mark):
    """Control characters, the mark and backslashes are escaped."""
    out = []
    for one in text:
        if one in (mark, "\\"):
            out.append("\\" + one)
        elif one == "\n":
            out.append("\\n")
        elif ord(one) < 0x20:
            out.append(f"\\x{ord(one):02x}")
        else:
            out.append(one)
    return mark + "".join(out) + mark


def write_name(name):
    if IDENTIFIER.fullmatch(name) and name not in KEYWORDS:
        return name
    return quote(name, "'")


def write_number(text, choose):
    """A decimal in one of the forms that exports have: 103. or 103.0, 6d2, 8.5."""
    number = EXACT.create_decimal(text)
    sign, digits, exponent = number.as_tuple()
    digits = "".join(map(str, digits))
    if exponent < 0 and number != 0:
        return choose.choice([text, f"{'-' if sign else ''}{digits}d{exponent}"])
    while exponent >= 0 and len(digits) > 1 and digits.endswith("0"):
        digits, exponent = digits[:-1], exponent + 1
    if exponent > 0:
        return f"{'-' if sign else ''}{digits}{choose.choice(['d', 'd', '.d'])}{exponent}"
    return text + choose.choice([".", ".0", "d0"])


def write_value(value, choose):
    (kind, content), = value.items()
    if kind == "S":
        return quote(content, '"')
    if kind == "N":
        return write_number(content, choose)
    if kind == "B":
        return "{{" + content + "}}"
    if kind == "BOOL":
        return "true" if content else "false"
    if kind == "NULL":
        return "null"
    if kind == "L":
        return "[" + ",".join(write_value(one, choose) for one in content) + "]"
    if kind == "M":
        return write_struct(content, choose)
    return f"$dynamodb_{kind}::[" + ",".join(write_value({kind[0]: one}, choose) for one in content) + "]"


def write_struct(members, choose):
    """`choose` is a random.Random: it chooses among forms that mean the same."""
    return "{" + ",".join(f"{write_name(name)}:{write_value(value, choose)}" for name, value in members.items()) + "}"


def write_line(name, members, choose):
    return f"{VERSION}{{{name}:{write_struct(members, choose)}}}"
