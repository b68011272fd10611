#!/usr/bin/env python3
"""Runs this suite, with nothing but Python, on a ptxas, or on any program that prints observations (module.schema.json):

    python3 run.py --ptxas /usr/local/cuda/bin/ptxas
    python3 run.py --exec 'my-assembler --observe {ptx}'
    python3 run.py --exec 'my-assembler --observe {ptx}' --write-expected known.txt
    python3 run.py --exec 'my-assembler --observe {ptx}' --expect-failures known.txt

What a verdict is: README.md. A file of expected failures has a line for each: CASE:VARIABLE:CLASS, with - for the whole
program; # behind a space begins a comment. Exit status: 0 all that was compared conforms or fails as expected, 1 something else fails or an
expected failure does not fail any more, 2 bad usage or no such program, 3 nothing was compared.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, shlex, shutil, subprocess, sys

sys.dont_write_bytecode = True  # the suite stays as it is
import ptxas

HERE = pathlib.Path(__file__).resolve().parent
OUTCOMES = "accepted", "refused", "unsupported", "unavailable", "crashed", "timed-out"


def ask(words, case, timeout):
    """What a program that prints observations says of one case."""
    path = str(HERE / case["file"])
    command = [word.replace("{ptx}", path) for word in words] + [path] * all("{ptx}" not in word for word in words)
    try:
        run = subprocess.run(command, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        seen = json.loads(run.stdout) if run.returncode == 0 else {}
    except subprocess.TimeoutExpired:
        return {"outcome": "timed-out"}
    except ValueError:
        seen = {}
    if not isinstance(seen, dict) or seen.get("outcome") not in OUTCOMES:
        return {"outcome": "crashed"}
    if not seen.get("variables"):  # it only parses, or the program declares nothing
        seen.pop("variables", None)
    return seen


def compare(expected, seen):
    """What one variable shows: None where it is as expected, else the class of deviation, or `unobserved`."""
    if any(seen.get(k) is not None and seen[k] != expected[k] for k in ("space", "size")) or (
            seen.get("align") is not None and seen["align"] < expected["align"]):
        return "wrong-layout"
    if seen.get("bytes") is None or seen.get("addresses") is None and expected["addresses"]:
        return "unobserved"
    pairs = zip(expected["addresses"], seen.get("addresses") or [])
    same = len(expected["addresses"]) == len(seen.get("addresses") or []) and all(
        all(e[k] == s.get(k) for k in e if k != "generic") and s.get("generic") in (None, e["generic"]) for e, s in pairs)
    return "wrong-address" if not same else "wrong-value" if seen["bytes"] != expected["bytes"] else None


def agrees(expected, seen):
    """Whether a whole program was answered for as expected."""
    if expected["outcome"] != seen["outcome"]:
        return False
    if "variables" not in seen:
        return True
    shown = [compare(v, seen["variables"].get(name, {})) for name, v in expected.get("variables", {}).items()]
    return not expected.get("unmodelled") and (
        not shown or None in shown and set(shown) <= {None, "unobserved"})


def judge(case, seen):
    """The verdicts on a case: (variable or None, verdict, class or reason or answers)."""
    expected, did = case["expected"], seen["outcome"]
    if did in ("unsupported", "unavailable"):
        return [(None, "not-compared", did)]
    if did in ("crashed", "timed-out"):
        return [(None, "deviates", {"crashed": "crash", "timed-out": "hang"}[did])]
    if expected["outcome"] == "unmodelled":
        return [(None, "not-compared", "unmodelled")]
    if expected["outcome"] != did:
        other = next((r["answers"] for r in case["readings"] if agrees(r["expected"], seen)), None)
        return [(None, "reading", other) if other else
                (None, "deviates", "accepts-invalid" if did == "accepted" else "refuses-valid")]
    if did == "refused" or "variables" not in seen or not expected["variables"] and not expected.get("unmodelled"):
        return [(None, "conforms", None)]
    verdicts = [(lacks["variable"], "not-compared", "unmodelled") for lacks in expected.get("unmodelled", [])]
    for name, variable in expected["variables"].items():
        shown = seen["variables"].get(name, {})
        found = compare(variable, shown)
        other = found and next((r["answers"] for r in case["readings"] if name in r["expected"].get("variables", {})
                                and compare(r["expected"]["variables"][name], shown) is None), None)
        verdicts.append((name, "conforms", None) if not found else (name, "not-compared", found) if found == "unobserved"
                        else (name, "reading", other) if other else (name, "deviates", found))
    return verdicts


def key_of(line):
    """A failure as a line of a file of expected failures."""
    return f"{line['case']}:{line['variable'] or '-'}:{line['what']}"


def expected_in(path):
    """The expected failures of a file."""
    lines = (shlex.split((" " + line).partition(" #")[0]) for line in pathlib.Path(path).read_text().splitlines())
    return {words[0] for words in lines if words}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptxas", default="ptxas", help="a ptxas [default: that of PATH]")
    parser.add_argument("--exec", metavar="CMD", help="any program instead; {ptx} is the file, else it comes last")
    parser.add_argument("--json", metavar="FILE", help="write every verdict here, a line each")
    parser.add_argument("--only", default="", metavar="PREFIX", help="cases whose id begins so")
    parser.add_argument("--expect-failures", metavar="FILE", help="failures that are known and make no status 1")
    parser.add_argument("--write-expected", metavar="FILE", help="write the failures as such a file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=10, help="seconds a case [default: 10]")
    args = parser.parse_args()
    words = shlex.split(args.exec) if args.exec is not None else [args.ptxas]
    if not words or not shutil.which(words[0]):
        what = "give --ptxas PATH or --exec CMD" if args.exec is None else "give another"
        parser.error(f"{words[0] if words else 'an empty command'}: no such program; {what}")
    try:
        expected = expected_in(args.expect_failures) if args.expect_failures else set()
    except (OSError, ValueError) as error:
        parser.error(f"--expect-failures {args.expect_failures}: {error}")
    cases = {case["id"]: case for case in json.loads((HERE / "manifest.json").read_text())["cases"]}
    targets = args.exec or ptxas.targets_of(args.ptxas)
    observe = lambda case: (ask(words, case, args.timeout) if args.exec
                            else ptxas.ask(args.ptxas, targets, HERE, case, args.timeout))
    chosen = [case for case in cases.values() if case["id"].startswith(args.only)]
    if not chosen:
        folders = sorted({i.rpartition("/")[0] for i in cases})
        parser.error(f"--only {args.only}: no case begins so; ids begin with {', '.join(folders)}")
    wanted = sorted({i for case in chosen for i in (case["id"], case["twin"]) if i})
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        seen = dict(zip(wanted, pool.map(lambda i: observe(cases[i]), wanted)))
    count, lines = collections.Counter(), []
    for case in chosen:
        for variable, verdict, what in judge(case, seen[case["id"]]):
            if case["twin"] and verdict == "conforms" and seen[case["twin"]]["outcome"] != "accepted":
                verdict, what = "not-compared", "twin-refused"  # it may be refused for another reason
            count[verdict] += 1
            lines.append({"case": case["id"], "variable": variable, "verdict": verdict, "what": what})
            lines[-1]["expected"] = verdict == "deviates" and key_of(lines[-1]) in expected
            if lines[-1]["expected"]:
                count["expected failures"] += 1
            elif verdict in ("deviates", "reading"):
                print(f"{verdict}: {case['id']}" + f" `{variable}`" * bool(variable) + f": {what} ({case['clauses'][0]})")
    if args.json:
        pathlib.Path(args.json).write_text("".join(json.dumps(line) + "\n" for line in lines))
    failed = {key_of(line) for line in lines if line["verdict"] == "deviates"}
    if args.write_expected:
        pathlib.Path(args.write_expected).write_text("".join(shlex.quote(key) + "\n" for key in sorted(failed)))
    shown = {case["id"] for case in chosen}
    fixed = sorted(key for key in expected - failed if key.partition(":")[0] in shown)
    for key in fixed:
        print(f"fixed: {key}: expected to fail, and does not; remove it from {args.expect_failures}")
    print(f"{len(chosen)} case{'s' * (len(chosen) != 1)}: " + ", ".join(
        f"{count[v]} {v}" for v in ("conforms", "reading", "deviates", "not-compared"))
        + f", {count['expected failures']} of them expected" * bool(expected))
    compared = count["conforms"] + count["reading"] + count["deviates"]
    sys.exit(1 if fixed or failed - expected else 0 if compared else 3)


if __name__ == "__main__":
    main()
