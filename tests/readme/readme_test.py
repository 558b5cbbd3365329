"""Runs the commands and programs of a document, by default README.md, in their order and in one shell.

    readme_test.py REPOSITORY BUILD_DIRECTORY [DOCUMENT]    DOCUMENT: another one of the repository, such as docs/backup.md

What happens to a block depends on its language:

  sh               the commands are run; if one fails, the test fails and names it
  cpp, python, js  the program is run. C++ blocks without main() are parts of one program, which is run at the last of
                   them with a connected `itemdb::Client client`; those that begin with #include or struct stand before main()
  output           each line must be in the output of the block before, in this order; `...` stands for any text, and the
                   number of spaces between words does not matter
  toml, json       the text is parsed
  yaml, ini, text  nothing: a file, or what is not run in a terminal. Text must not begin with a program of the project

`<!-- not run: REASON -->` before a block keeps it from being run. `<!-- run: COMMANDS -->` is run although readers do not
see it: it prepares what the commands of the document need. Other blocks, indented ones too, are refused.

Replaced are only ports, paths in the folders below, and the number two million, which becomes two thousand.
"""

import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib

SECONDS = 600
# Folders that are in the test's own folder instead.
FOLDERS = ("/tmp/", "/mnt/", "/var/lib/itemdb", "/etc/itemdb")
RUN = ("sh", "cpp", "python", "js")
KNOWN = (*RUN, "output", "text", "toml", "json", "yaml", "ini")
BLOCK = re.compile(r"^(?P<before><!-- not run: .+ -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$"
                   r"|^<!-- run:\n(?P<hidden>.*?)^-->$", re.MULTILINE | re.DOTALL)
PROGRAMS = re.compile(r"^(sudo|systemctl|itemd|itemctl|\./dev|apt-get|cmake|curl|aws)\b")
# A document stops its daemon without waiting for it, where a reader need not.
STOP = re.compile(r"^kill (-9 )?(%\d)\n(?!wait)", re.MULTILINE)

# A command that starts a daemon in the background.
STARTS = re.compile(r"^itemd (?:[^\n]|\\\n)*&\n", re.MULTILINE)


def stopping(command):
    """The command, then a wait for the daemon, which ends with 0 unless it is killed."""
    return command[0] + f"wait {command[2]}" + (" || true\n" if command[1] else "\n")


def waiting(command):
    """The command, then a wait until its ports are open: on a busy machine a start takes longer than clients wait."""
    ports = re.findall(r"(?<=listen 127\.0\.0\.1:)\d+", command[0])
    return command[0] + "{ set +x; } 2>/dev/null\n" + "".join(
        f"for _ in $(seq 600); do (: </dev/tcp/127.0.0.1/{port}) 2>/dev/null && break; sleep 0.1; done\n" for port in ports) + "set -x\n"


class Block:
    """A block of a document. `text` is None if it is not run."""

    def __init__(self, language, text, line, is_run):
        self.language, self.text, self.line, self.is_run = language, text, line, is_run


def blocks_of(document):
    found = []
    for match in BLOCK.finditer(document):
        line = document.count("\n", 0, match.start()) + 1
        if match["hidden"] is not None:
            found.append(Block("sh", match["hidden"], line, True))
            continue
        if match["language"] not in KNOWN:
            sys.exit(f"line {line}: a block has the language {match['language']!r}; known are {', '.join(KNOWN)}")
        found.append(Block(match["language"], match["text"], line, match["language"] in RUN and not match["before"]))
    rest = BLOCK.sub("", document)
    if "\n```" in rest or "<!-- not run" in rest or "<!-- run" in rest:
        sys.exit("a block does not end, or a comment about a block does not stand before one")
    if found_line := re.search(r"\n\n    (\S.*)", rest):
        sys.exit(f"an indented block: give it a language: {found_line[1]}")
    return found


def check_data(block):
    """Parses files of settings; refuses commands that are hidden as text."""
    try:
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            json.loads(block.text)
    except ValueError as error:
        sys.exit(f"line {block.line}: not {block.language}: {error}")
    if block.language == "text" and PROGRAMS.match(block.text):
        sys.exit(f"line {block.line}: commands as text: make the block sh, with `<!-- not run: REASON -->` if need be")


class Session:
    """A shell in the repository, and all processes that it starts."""

    def __init__(self, repository, build, scratch):
        self.repository, self.build, self.scratch = repository, build, scratch
        self.ports = {}
        for folder in ("mnt", "etc/itemdb", "var/lib"):
            (pathlib.Path(scratch) / folder).mkdir(parents=True)

    def port(self, written):
        if written not in self.ports:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.ports[written] = str(probe.getsockname()[1])
        return self.ports[written]

    def localize(self, text):
        text = re.sub(r"(?<=127\.0\.0\.1:)[1-9]\d{3}\b", lambda match: self.port(match[0]), text)
        return self.move_folders(text).replace("2000000", "2000")

    def move_folders(self, text):
        for folder in FOLDERS:
            own = "/" if folder == "/tmp/" else folder
            text = re.sub(rf"(?<![\w/.]){re.escape(folder)}", self.scratch + own, text)
        return text

    def delocalize(self, text):
        for written, own in self.ports.items():
            text = text.replace(own, written)
        for folder in ("/mnt/", "/var/lib/itemdb", "/etc/itemdb"):
            text = text.replace(self.scratch + folder, folder)
        return text.replace(self.scratch + "/", "/tmp/")

    def run(self, script):
        environment = dict(
            os.environ, ITEMCTL_ENDPOINT=f"127.0.0.1:{self.port('7420')}", PAGER="cat", TMPDIR=self.scratch,
            PATH=f"{self.build / 'bin'}:{os.environ['PATH']}", no_proxy="127.0.0.1,localhost",
            AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true")
        # A file and not a pipe: a daemon that a failed block leaves running would keep a pipe open.
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            shell = subprocess.Popen(
                ["bash", "-c", script], cwd=self.repository, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                failure = shell.wait(timeout=SECONDS) and f"exit code {shell.returncode}: the last command above"
            except subprocess.TimeoutExpired:
                failure = f"the commands did not end within {SECONDS} s"
            finally:
                try:
                    os.killpg(shell.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            output.seek(0)
            printed = output.read()
        print(printed)
        if failure:
            sys.exit(f"FAILED: {failure}")
        return printed


class Programs:
    """Makes the command that runs a program of a document."""

    def __init__(self, session):
        self.session, self.count, self.is_installed = session, 0, False

    def command(self, block, last_part, parts):
        if block.language == "python":
            return f"/usr/bin/python3 {self.file(block.text, 'py')}\n"
        if block.language == "js":
            modules = os.environ.get("ITEMDB_NODE_MODULES")
            if not modules:
                return "echo 'skipped: there is no ITEMDB_NODE_MODULES'\n"
            link = pathlib.Path(self.session.scratch) / "node_modules"
            if not link.exists():
                link.symlink_to(modules)
            return f"node {self.file(block.text, 'mjs')}\n"
        if "int main(" in block.text:
            return self.compiled(block.text)
        return self.compiled(program_of(parts)) if block is last_part else ""

    def file(self, text, suffix):
        self.count += 1
        path = pathlib.Path(self.session.scratch) / f"program{self.count}.{suffix}"
        path.write_text(self.session.localize(text))
        return path

    def compiled(self, text):
        source = self.file(text, "cc")
        program = source.with_suffix("")
        prefix = f"{self.session.scratch}/prefix"
        install = "" if self.is_installed else f"""cmake --install {shlex.quote(str(self.session.build))} --prefix {prefix} >/dev/null
export PKG_CONFIG_PATH=$(dirname $(find {prefix} -name 'itemdb*.pc' | head -1))
"""
        self.is_installed = True
        return f"""{install}g++ -std=c++20 -Wall -Werror {source} -o {program} $(pkg-config --cflags --libs itemdb) \\
    -Wl,-rpath,$(pkg-config --variable=libdir itemdb)
{program}
"""


def program_of(parts):
    """The blocks without main() as one program."""
    before = [part.text for part in parts if re.match(r"#include|struct |template ", part.text)]
    within = [part.text for part in parts if not re.match(r"#include|struct |template ", part.text)]
    return "\n".join(before) + """
int main() {
  absl::StatusOr<itemdb::Client> opened = itemdb::Client::Open({.endpoint = "127.0.0.1:7420"});
  if (!opened.ok()) return 1;
  itemdb::Client& client = *opened;
""" + "\n".join(within) + "}\n"


def script_of(session, blocks):
    programs = Programs(session)
    parts = [block for block in blocks if block.is_run and block.language == "cpp" and "int main(" not in block.text]
    script = "set -euo pipefail\nset -x\n"
    for number, block in enumerate(blocks):
        if not block.is_run:
            continue
        script += f"echo; echo '@@ {number}'\n"
        if block.language == "sh":
            script += STARTS.sub(waiting, STOP.sub(stopping, session.localize(block.text)))
        else:
            script += programs.command(block, parts and parts[-1], parts)
    # What still runs must end well too.
    return script + "echo; echo '@@ end'\nfor job in $(jobs -p); do kill $job; wait $job; done\n"


def check_outputs(session, blocks, printed):
    # Lines that begin with + are the shell's: the commands.
    pieces = re.split(r"^@@ (\w+)$", re.sub(r"^\++ .*\n", "", session.delocalize(printed), flags=re.MULTILINE), flags=re.MULTILINE)
    printed_by = dict(zip(pieces[1::2], pieces[2::2]))
    for number, block in enumerate(blocks):
        if block.language != "output":
            continue
        before = next((i for i in range(number - 1, -1, -1) if blocks[i].language in RUN), None)
        if before is None or not blocks[before].is_run:
            sys.exit(f"line {block.line}: the output of a block that is not run")
        rest = printed_by[str(before)]
        if "skipped:" in rest and blocks[before].language == "js":
            continue
        for line in block.text.splitlines():
            pattern = ".*".join(r"[ ]+".join(map(re.escape, re.split(" +", part))) for part in line.strip().split("..."))
            found = re.search(rf"^[ ]*{pattern}[ ]*$", rest, re.MULTILINE)
            if not found:
                sys.exit(f"FAILED: line {block.line}: the commands before do not print, or not in this order:\n{line}")
            rest = rest[found.end():]


def run_document(repository, build, scratch, name):
    blocks = blocks_of((repository / name).read_text())
    for block in blocks:
        check_data(block)
    if not any(block.is_run for block in blocks):
        print(f"{name} has nothing that is run")
        return
    session = Session(repository, build, scratch)
    check_outputs(session, blocks, session.run(script_of(session, blocks)))


def main():
    repository, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="readme-") as scratch:
        if len(sys.argv) > 3:
            run_document(repository, build, scratch, sys.argv[3])
            return
        languages = {block.language for block in blocks_of((repository / "README.md").read_text())}
        if not languages >= {"sh", "cpp", "python", "js"}:
            sys.exit("README.md has lost its examples")
        run_document(repository, build, scratch, "README.md")


if __name__ == "__main__":
    main()
