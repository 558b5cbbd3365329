"""Runs the commands of the README: every `sh` block in order, in one shell, and the C++ program.

Replaced are only the port, paths in /tmp, and the number two million, which becomes two thousand. If a command fails, the
test fails and names the command.

    readme_test.py REPOSITORY BUILD_DIRECTORY [DOCUMENT]    DOCUMENT: another one of the repository
"""

import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile

SECONDS = 900


def blocks(text, language):
    return re.findall(r"^```" + language + r"\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Session:
    """A shell in the repository, and all processes that it starts."""

    def __init__(self, repository, scratch):
        self.repository, self.scratch, self.port = repository, scratch, free_port()

    def localize(self, text):
        return text.replace("/tmp/", self.scratch + "/").replace("7420", str(self.port)).replace("2000000", "2000")

    def run(self, script):
        environment = dict(os.environ, ITEMCTL_ENDPOINT=f"127.0.0.1:{self.port}", PAGER="cat")
        # A file and not a pipe: a daemon that a failed block leaves running would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
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
            print(output.read())
        if failure:
            sys.exit(f"FAILED: {failure}")


STOP = "kill %1\n"


def script_of(session, text, before_stop=""):
    """The commands of a document, which must start and stop one daemon, plus commands that run before it is stopped."""
    script = "set -euo pipefail\nset -x\n" + session.localize("\n".join(blocks(text, "sh")))
    if script.count(STOP) != 1:
        sys.exit("the document must stop its daemon once, with `kill %1`")
    return script.replace(STOP, before_stop + STOP + "wait %1\n")


def run_readme(repository, build, scratch):
    text = (repository / "README.md").read_text()
    programs = blocks(text, "cpp")
    if len(blocks(text, "sh")) < 4 or not programs:
        sys.exit("README.md has lost its examples")
    session = Session(repository, scratch)
    # The program queries items that the commands have put, so it runs before the daemon is stopped.
    source = pathlib.Path(scratch) / "program.cc"
    source.write_text(session.localize(programs[0]))
    prefix = f"{scratch}/prefix"
    # The output of `./dev demo` is in build/demo. It must be tables, although it was not printed to a
    # terminal.
    session.run(script_of(session, text, f"""
grep -q '^5. Orders of a customer between two dates: customer-id cust_001, ' build/demo/before.txt
grep -q '^order_id  order_date  customer_id  ' build/demo/before.txt
cmake --install {shlex.quote(str(build))} --prefix {prefix} >/dev/null
export PKG_CONFIG_PATH=$(dirname $(find {prefix} -name 'itemdb*.pc' | head -1))
g++ -std=c++20 {source} -o {scratch}/program $(pkg-config --cflags --libs itemdb) \\
    -Wl,-rpath,$(pkg-config --variable=libdir itemdb)
{scratch}/program | tee {scratch}/program.out
grep -q '^1 items at change' {scratch}/program.out
"""))


def main():
    repository, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="readme-") as scratch:
        if len(sys.argv) > 3:
            session = Session(repository, scratch)
            session.run(script_of(session, (repository / sys.argv[3]).read_text()))
        else:
            run_readme(repository, build, scratch)


if __name__ == "__main__":
    main()
