#!/usr/bin/python3
"""Tables move from itemd to DynamoDB Local and back with writers going on, and kill -9 of each process in each
phase; the fifteen order-entry patterns are answered alike after each kill.

graduate_test.py ITEMD ITEMCTL [JAVA]

DynamoDB Local comes from npm, into node_modules beside this program's copy. Without JAVA the test is skipped.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

from engines import (PATIENCE_S, Itemd, Writers, client_of, dynamodb_local_in_file, environment, kill, log_of, run_test,
                     start, work)

ITEMS = 6_000

itemd, itemctl = sys.argv[1:3]
java = sys.argv[3] if len(sys.argv) > 3 else None
seed = int(os.environ.get("ITEMDB_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
chance = random.Random(seed)


def call(endpoint, *arguments):
    return subprocess.run([itemctl, "--endpoint", endpoint, "-o", "jsonl", *arguments], text=True, capture_output=True,
                          check=False, env=environment)


def answers(endpoint):
    """What the fifteen order-entry patterns answer."""
    result = call(endpoint, "order-entry", "all")
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["pattern"] for line in lines] == list(range(1, 16)), lines
    return lines


def graduate(source, target, *more):
    return ["--endpoint", source.grpc, "-o", "jsonl", "graduate", target.http, "--state", str(work / "move.json"), *more]


def run_mover(arguments):
    return start([itemctl, *arguments], work, "mover")


def wait_for_mover(mover, target):
    """Its exit code. DynamoDB Local that was killed sometimes does not answer after its next start: then it is killed
    again, with a thread dump in its log."""
    for _ in range(PATIENCE_S // 10):
        try:
            return mover.wait(10)
        except subprocess.TimeoutExpired:
            # One line in ten seconds.
            if mover_log().count("waiting for the target") >= 6:
                break
    print("DynamoDB Local does not answer and is started again:", mover_log())
    target.process.send_signal(signal.SIGQUIT)
    time.sleep(1)
    kill(target.process)
    target.start()
    return mover.wait(PATIENCE_S)


def is_fenced(source):
    """The fence of the table, if writers wait for a switch."""
    described = call(source.grpc, "table", "describe", "Counters")
    assert described.returncode == 0, described.stderr
    fence = json.loads(described.stdout).get("WriteFence")
    return fence if fence and not fence.get("Moved") else None


def kill_both(source, target):
    """A mover that runs cannot end before both are back."""
    for side in (target, source):
        kill(side.process)
    source.start()
    target.start()


def mover_log():
    return log_of("mover")


def await_log(text, since=0):
    for _ in range(PATIENCE_S * 20):
        if text in mover_log()[since:]:
            return
        time.sleep(0.05)
    sys.exit(f"the mover does not say {text!r}")


def main():
    source, target = Itemd(itemd, "source"), dynamodb_local_in_file(java)
    assert call(source.grpc, "order-entry", "load").returncode == 0
    expected = answers(source.http)
    client_of(source.http).create_table(
        TableName="Counters", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    items = "".join(json.dumps({"id": {"S": f"item{i}"}, "text": {"S": "x" * 200}, "price": {"N": "1.50"},
                                "set": {"SS": ["b", "a"]}}) + "\n" for i in range(ITEMS))
    loaded = subprocess.run([itemctl, "--endpoint", source.grpc, "batch-write", "Counters"], input=items, text=True,
                            capture_output=True, check=False, env=environment)
    assert loaded.returncode == 0, loaded.stderr
    plan = call(source.grpc, *graduate(source, target, "--dry-run")[4:])
    assert plan.returncode == 0 and json.loads(plan.stdout)["item_count"] >= ITEMS, plan
    print("the plan:", plan.stdout.strip())

    writers = Writers(source.http, target.http)
    # A kill of each process while items are copied: the rate makes that take some seconds.
    mover = run_mover(graduate(source, target, "--max-rate", "900"))
    for victim in ("mover", "target", "source"):
        time.sleep(chance.uniform(0.5, 1.5))
        assert mover.poll() is None, mover_log()
        print("kill -9 of the", victim, "while items are copied")
        if victim == "mover":
            kill(mover)
            mover = run_mover(graduate(source, target, "--max-rate", "900"))
        else:
            side = target if victim == "target" else source
            kill(side.process)
            time.sleep(chance.uniform(0, 0.5))
            side.start()
        # The target has only a part of it.
        assert answers(source.http) == expected
    # Without --yes it does not switch.
    assert wait_for_mover(mover, target) == 2, mover_log()
    # A kill of each while changes are followed.
    said = len(mover_log())
    mover = run_mover(graduate(source, target, "--follow"))
    await_log("following: change", said)
    for victim in ("target", "source", "mover"):
        time.sleep(chance.uniform(0.5, 1.5))
        assert mover.poll() is None, mover_log()
        print("kill -9 of the", victim, "while changes are followed")
        if victim == "mover":
            kill(mover)
        else:
            side = target if victim == "target" else source
            kill(side.process)
            side.start()
        assert answers(source.http) == answers(target.http) == expected
    # A kill while both sides are compared: after a run that goes on has said so, and before it has said what it found.
    for attempt in range(20):
        said = len(mover_log())
        mover = run_mover(graduate(source, target))
        await_log("going on with the move", said)
        time.sleep(chance.uniform(0, 0.2))
        is_compared = "compared " in mover_log()[said:]
        if attempt % 2 == 0:
            kill(mover)
            victim = "mover"
        else:
            kill_both(source, target)
            victim = "source and the target"
            assert wait_for_mover(mover, target) == 2, mover_log()
        print("kill -9 of the", victim, "after" if is_compared else "before", "the end of the comparison")
        assert answers(source.http) == answers(target.http) == expected
        if not is_compared and attempt > 0:
            break
    else:
        sys.exit("no kill came while both sides were compared")
    # At the switch, while writers wait: of the mover, then of both sides.
    for victim in ("mover", "source and the target"):
        earlier = is_fenced(source)
        mover = run_mover(graduate(source, target, "--yes"))
        fence = None
        while mover.poll() is None and (fence is None or fence == earlier):
            fence = is_fenced(source)
        print("kill -9 of the", victim, "while writers wait" if mover.poll() is None else "after the switch", fence)
        if victim == "mover":
            kill(mover)
        else:
            kill_both(source, target)
            # It may have given the switch up, because a side was away for too long.
            wait_for_mover(mover, target)
        assert answers(source.http) == answers(target.http) == expected
    mover = run_mover(graduate(source, target, "--yes"))
    assert wait_for_mover(mover, target) == 0, mover_log()
    report = json.loads([line for line in mover_log().splitlines() if line.startswith("{")][-1])
    print("the switch:", report)
    assert report["step"] == "DONE", report
    for _ in range(PATIENCE_S * 10):
        if writers.moved == 3:
            break
        time.sleep(0.1)
    assert writers.moved == 3, writers.errors
    time.sleep(1)
    writers.stop()
    print(f"{sum(writers.acknowledged.values())} writes acknowledged; errors of writers: {writers.errors}")
    writers.check(target.http)
    assert answers(target.http) == expected
    assert answers(source.http) == expected

    # The way in, to a third database; a kill of the target meanwhile.
    third = Itemd(itemd, "third")
    adopt = ["--endpoint", third.grpc, "-o", "jsonl", "adopt", target.http, "--state", str(work / "adopt.json"),
             "--tables", "Counters,Customer,Employee,Order,Product"]
    mover = run_mover([*adopt, "--max-rate", "3000"])
    time.sleep(1)
    kill(third.process)
    third.start()
    assert mover.wait(PATIENCE_S) == 0, mover_log()
    writers.check(third.http)
    assert answers(third.http) == expected

    # And back.
    client_of(target.http).put_item(TableName="Counters", Item={"id": {"S": "written there"}})
    client_of(target.http).delete_item(TableName="Counters", Key={"id": {"S": "item1"}})
    # Of the mover, then of both sides.
    kills = 0
    for victim in ("mover", "source and the target"):
        said = len(mover_log())
        mover = run_mover(graduate(source, target, "--back", "--yes"))
        await_log("going on with the move", said)
        time.sleep(chance.uniform(0, 0.1))
        has_ended = mover.poll() is not None
        print("kill -9 of the", victim, "after" if has_ended else "before", "the tables were back")
        if has_ended:
            break
        kills += 1
        if victim == "mover":
            kill(mover)
        else:
            kill_both(source, target)
            assert wait_for_mover(mover, target) == 0, mover_log()
        assert answers(source.http) == answers(target.http) == expected
    assert kills > 0, "no kill came before the tables were back"
    print("back:", mover_log().splitlines()[-1])
    writers.check(source.http)
    assert answers(source.http) == expected
    client = client_of(source.http)
    assert "Item" in client.get_item(TableName="Counters", Key={"id": {"S": "written there"}})
    assert "Item" not in client.get_item(TableName="Counters", Key={"id": {"S": "item1"}})
    client.put_item(TableName="Counters", Item={"id": {"S": "writers are back"}})
    assert call(source.grpc, "check").returncode == 0
    print("moved to DynamoDB Local, to a third database, and back")


if java is None:
    print("skipped: no Java")
    sys.exit(0)
run_test(main, f"ITEMDB_TEST_SEED={seed}")
