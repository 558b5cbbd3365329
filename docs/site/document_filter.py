#!/usr/bin/env python3
"""Prints a document of the tree as Doxygen wants it: each heading gets a label, and links to documents and to their
headings become links to labels. Links to other files become their paths.

    document_filter.py FILE     in the root of the tree
"""
import html
import os
import pathlib
import re
import sys


def label(path, anchor=""):
    return re.sub(r"\W", "_", f"{path}_{anchor}" if anchor else str(path))


def anchor_of(heading):
    """As GitHub makes them."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def link(match, path):
    text, target = match.groups()
    if "://" in target:
        return match[0]
    file, _, anchor = target.partition("#")
    file = os.path.normpath(path.parent / file) if file else str(path)
    if not file.endswith(".md") or not (file.count("/") == 0 or file.startswith("docs/")):
        return f"{text} (`{file}`)" if "`" not in text else text
    return f"[{text}](#{label(file, anchor)})"


def escaped(text):
    """Text outside of code in which Doxygen sees no tags and no names of members."""
    return re.sub(r"<(?!!--|/?img)|#(?=[A-Z])|::(?=[A-Z])", lambda match: "\\" + match[0], text)


def code(span):
    """Doxygen ends a code span at a single quote, and sees tags in it."""
    return f"<code>{html.escape(span[1:-1], quote=False)}</code>" if re.search("['<]", span) else span


def paragraph(lines, path):
    text = "\n".join(lines)
    # Links may go over the end of a line; code spans are every second part.
    parts = re.split(r"(`[^`]*`)", text)
    text = "".join(code(part) if i % 2 else escaped(part) for i, part in enumerate(parts))
    # Doxygen copies images into the folder of the pages.
    text = re.sub(r"(!\[[^\]]*\]\(|<img src=\"|srcset=\")[^)\"\s]*/([^/)\"\s]+)", r"\1\2", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", lambda match: link(match, path), text)


def filtered(path):
    """The parts of the document: headings, blocks of code, and paragraphs."""
    lines, is_first, in_block = [], True, False
    for line in path.read_text().split("\n"):
        heading = not in_block and re.match(r"#+ (.*)", line)
        if heading or line.startswith("```"):
            if lines:
                yield "\n".join(lines) if in_block else paragraph(lines, path)
            lines = []
        if heading:
            yield f"{line} {{#{label(path) if is_first else label(path, anchor_of(heading[1]))}}}"
            is_first = False
        elif line.startswith("```"):
            yield line
            in_block = not in_block
        else:
            lines.append(line)
    yield paragraph(lines, path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    file = pathlib.Path(os.path.relpath(sys.argv[1]))
    if file.parts[0] == "build":
        sys.stdout.write(file.read_text())
    else:
        print(re.sub(r"<!--.*?-->", "", "\n".join(filtered(file)), flags=re.S))
