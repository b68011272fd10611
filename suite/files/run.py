#!/usr/bin/env python3
"""Runs this suite on a ptxas, with nothing but Python: `python3 run.py --ptxas PATH [--json FILE] [--only PREFIX]`.

What a verdict is: README.md. Exit status: 0 all that was compared conforms, 1 something deviates, 3 nothing was compared.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, re, struct, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).parent
WORDS = {1: (4, None), 2: (8, None), 4: (8, "generic"), 35: (8, "code"), 102: (8, "code")}  # relocation: width, whose
LANES = {76: None, 84: "generic", 92: "code", 104: "code"}  # the first of eight that write one byte each


def table(data, at, count, size, form):
    return [struct.unpack_from("<" + form, data, at + i * size) for i in range(count)]


def read_cubin(data):
    """The variables of a cubin, an ELF file, in the shape of module.schema.json."""
    shoff, shsize, shnum, shstr = struct.unpack_from("<Q", data, 40) + struct.unpack_from("<HHH", data, 58)
    sections = table(data, shoff, shnum, shsize, "IIQQQQIIQQ")  # name type flags addr offset size link info align entry
    text = lambda section, at: data[sections[section][4] + at:data.index(b"\0", sections[section][4] + at)].decode()
    names = [text(shstr, section[0]) for section in sections]
    symtab = next(section for section in sections if section[1] == 2)
    symbols = table(data, symtab[4], symtab[5] // 24, 24, "IBBHQQ")  # name info other section value size
    variables, placed = {}, []
    for name, info, other, home, value, size in symbols:
        name = text(symtab[6], name)
        if info & 15 not in (1, 13) or home == 0 or name.startswith(".nv."):
            continue
        common = home == 0xFFF2  # zero, and placed by the linker: the symbol tells its alignment
        where = "common" if common else names[home]
        space = ("const" if where == ".nv.constant3" else "shared" if where.startswith((".nv.shared", ".nv_debug.shared"))
                 else "global" if where in (".nv.global", ".nv.global.init", ".nv.udt", "common") else None)
        if space is None:
            continue
        content, align = bytes(size), value
        if not common:
            _, kind, _, address, offset, _, _, _, limit, _ = sections[home]
            start = value - address
            align = min(limit, start & -start) if start else limit
            if kind not in (8, 0x70000007, 0x7000000A):  # those have no bytes: zero
                content = data[offset + start:offset + start + size]
            placed.append((home, start, size, name))
        variables[name] = {"space": space, "size": size, "align": align, "addresses": [],
                           "bytes": None if space == "shared" else content.hex()}
    for _, kind, _, _, offset, size, _, target, _, _ in sections:
        if kind not in (4, 9):  # with addend, without
            continue
        entry, form = (24, "QQq") if kind == 4 else (16, "QQ")
        for at, info, *addend in table(data, offset, size // entry, entry, form):
            kind, symbol = info & 0xFFFFFFFF, symbols[info >> 32]
            for home, start, size, name in placed:
                if home == target and start <= at < start + size:
                    first = kind - (kind - 76) % 8 if kind < 100 else 104
                    width, of = WORDS[kind] if kind in WORDS else (1, LANES[first])
                    whose = names[symbol[3]] if 0 < symbol[3] < len(names) else ""
                    constant = whose == ".nv.constant3" or not whose and symbol[2] & 0xE0 == 0x80
                    generic = None if of == "code" or symbol[1] & 15 == 2 else of == "generic"
                    generic = None if generic and not constant else generic  # `g` and `generic(g)` look alike
                    variables[name]["addresses"].append({
                        "offset": at - start, "width": width, "symbol": text(symtab[6], symbol[0]),
                        "addend": addend[0] if addend else 0, "generic": generic,
                        "byte": None if kind in WORDS else kind - first})
    for variable in variables.values():
        variable["addresses"].sort(key=lambda address: address["offset"])
    return variables


def observe(ptxas, targets, case, timeout):
    """What ptxas does with one case."""
    number = lambda target: int(target[3:]) if target[3:].isdigit() else 0
    target = case["target"]
    if target not in targets:  # a program for one target runs on the later ones
        target = min((t for t in targets if number(t) > number(target) > 0), key=number, default=target)
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder, "out.cubin")
        command = [ptxas, f"-arch={target}", str(HERE / case["file"]), "-o", str(cubin)]
        try:
            run = subprocess.run(command + ["--compile-only"] * case["relocatable"], cwd=folder, timeout=timeout,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return {"outcome": "timed-out"}
        said = run.stderr + run.stdout
        if run.returncode == 0 and cubin.exists():
            return {"outcome": "accepted", "variables": read_cubin(cubin.read_bytes())}
        errors = re.findall(r"^ptxas .*?(?:fatal|error) *: (.*)", said, re.M)
        crash = run.returncode <= 0 or run.returncode - 128 in (4, 5, 6, 7, 8, 9, 11, 24, 25) or not errors
        if crash or re.search("Memory allocation failure|bad_alloc|Internal (compiler )?error", said):
            return {"outcome": "crashed"}
        lacks = r"Unsupported .version|SM version specified by .target is higher|Value '.*' is not defined for option 'gpu"
        return {"outcome": "unsupported" if any(re.match(lacks, e) for e in errors) else "refused"}


def compare(expected, seen):
    """What one variable shows: None where it is as expected, else the class of deviation, or `unobserved`."""
    if any(seen.get(k) is not None and seen[k] != expected[k] for k in ("space", "size")) or (
            seen.get("align") is not None and seen["align"] < expected["align"]):
        return "wrong-layout"
    if seen.get("bytes") is None or seen.get("addresses") is None and expected["addresses"]:
        return "unobserved"
    pairs = zip(expected["addresses"], seen["addresses"] or [])
    same = len(expected["addresses"]) == len(seen["addresses"] or []) and all(
        all(e[k] == s[k] for k in e if k != "generic") and s["generic"] in (None, e["generic"]) for e, s in pairs)
    return "wrong-address" if not same else "wrong-value" if seen["bytes"] != expected["bytes"] else None


def agrees(expected, seen):
    """Whether a whole program was answered for as expected."""
    if expected["outcome"] != seen["outcome"]:
        return False
    shown = [compare(v, seen["variables"].get(name, {})) for name, v in expected.get("variables", {}).items()]
    return expected["outcome"] == "refused" or not expected.get("unmodelled") and (
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
    if did == "refused" or not expected["variables"] and not expected.get("unmodelled"):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptxas", default="ptxas", help="the program [default: that of PATH]")
    parser.add_argument("--json", help="write every verdict here, a line each")
    parser.add_argument("--only", default="", metavar="PREFIX", help="cases whose id begins so")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=10, help="seconds a case [default: 10]")
    args = parser.parse_args()
    cases = json.loads((HERE / "manifest.json").read_text())["cases"]
    by_id = {case["id"]: case for case in cases}
    help_text = subprocess.run([args.ptxas, "--help"], capture_output=True, text=True).stdout
    targets = set(re.findall(r"'(sm_\w+)'", help_text.partition("--gpu-name")[2].partition("\n--")[0]))
    chosen = [case for case in cases if case["id"].startswith(args.only)]
    wanted = {i for case in chosen for i in (case["id"], case["twin"]) if i}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        seen = dict(zip(wanted, pool.map(lambda i: observe(args.ptxas, targets, by_id[i], args.timeout), wanted)))
    count, lines = collections.Counter(), []
    for case in chosen:
        for variable, verdict, what in judge(case, seen[case["id"]]):
            refused = case["expected"]["outcome"] == "refused" and verdict == "conforms"
            if refused and case["twin"] and seen[case["twin"]]["outcome"] != "accepted":
                verdict, what = "not-compared", "twin-refused"  # it may be refused for another reason
            count[verdict] += 1
            lines.append({"case": case["id"], "variable": variable, "verdict": verdict, "what": what})
            if verdict in ("deviates", "reading"):
                print(f"{verdict}: {case['id']}" + (f" `{variable}`" if variable else "") + f": {what} ({case['clauses'][0]})")
    if args.json:
        pathlib.Path(args.json).write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(f"{len(chosen)} cases: " + ", ".join(f"{count[v]} {v}" for v in ("conforms", "reading", "deviates", "not-compared")))
    sys.exit(1 if count["deviates"] else 0 if count["conforms"] + count["reading"] else 3)


if __name__ == "__main__":
    main()
