"""The work of scripts/check-emitters, which sets up what this needs."""

import concurrent.futures
import datetime
import pathlib
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

# The folder of the programs that cargo built; --report needs only the one that PTXSMITH names.
BUILT = os.environ.get("BUILT", "")
PTXSMITH = os.environ.get("PTXSMITH") or f"{BUILT}/ptxsmith"
VERSIONS = os.environ.get("LLVM_VERSIONS", "14 19").split()
NVPTX = ('target triple = "nvptx64-nvidia-cuda"\n'
         'target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"\n')
X86 = 'target triple = "x86_64-unknown-linux-gnu"\n'
PAGE = "docs/emitters.md"


def modules():
    """(file, name, IR without a header) of every global."""
    for path in sorted(glob.glob("emitters/*.ll")):
        with open(path, encoding="utf-8") as file:
            shared, own = file.read().split("; shared\n")[1].split("; globals\n")
        for line in own.splitlines():
            yield os.path.basename(path), line[1:line.index(" ")], f"{shared}{line}\n"


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def llc(version, ir, *options):
    old = ["-opaque-pointers"] if int(version) < 15 else []
    return run(f"llc-{version}", *old, *options, "-o", "-", text=ir)


def from_object(version, name, ir):
    """The bytes of one variable, and its addresses as (offset, symbol, addend), from an x86-64 object file."""
    # A folder of its own: llc takes away the file of what it could not write.
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "out.o")
        old = ["-opaque-pointers"] if int(version) < 15 else []
        done = run(f"llc-{version}", *old, "-filetype=obj", "-relocation-model=static", "-o", str(made), text=X86 + ir)
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or [f"llc: status {done.returncode}"])[0]
        data = made.read_bytes()
    start, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * index) for index in range(count)]

    def string(table, offset):
        at = sections[table][4] + offset
        return data[at:data.index(b"\0", at)].decode()

    symbols = []
    for section in sections:
        if section[1] == 2:
            for at in range(section[4], section[4] + section[5], 24):
                st_name, _, _, index, value, size = struct.unpack_from("<IBBHQQ", data, at)
                symbols.append((string(section[6], st_name), index, value, size))
    _, home, value, size = next(symbol for symbol in symbols if symbol[0] == name)
    kind, offset = sections[home][1], sections[home][4]
    bytes_ = bytes(size) if kind == 8 else data[offset + value:offset + value + size]
    addresses = []
    for section in sections:
        if section[1] == 4 and section[7] == home:
            for at in range(section[4], section[4] + section[5], 24):
                place, info, addend = struct.unpack_from("<QQq", data, at)
                if value <= place < value + size:
                    if info & 0xffffffff != 1:
                        return None, f"relocation {info & 0xffffffff} is not R_X86_64_64"
                    symbol = symbols[info >> 32]
                    if not symbol[0]:
                        symbol = next(s for s in symbols if s[0] and s[1] == symbol[1] and s[2] <= addend)
                        addend -= symbol[2]
                    addresses.append((place - value, symbol[0], addend))
    return (bytes_.hex(), sorted(addresses)), None


def whole_addresses(variable):
    """The addresses of an observation, eight masks of one address put together."""
    found, lanes = [], {}
    for address in variable.get("addresses") or []:
        place = (address["symbol"], address["addend"])
        if address["byte"] is None:
            found.append((address["offset"], *place))
        else:
            lanes.setdefault((address["offset"] - address["byte"], *place), set()).add(address["byte"])
    for place, seen in lanes.items():
        found.append(place if seen == set(range(8)) else (*place, sorted(seen)))
    return sorted(found)


def answer(observation, name):
    """What an observation or expectation says of one variable, in a form that can be compared with the object file's."""
    if observation["outcome"] != "accepted":
        refusal = observation.get("refusal") or {}
        message = refusal.get("message") or refusal.get("class") or observation.get("reason")
        diagnostics = [d["message"] for d in observation.get("diagnostics", [])]
        return observation["outcome"], (message or (diagnostics or [""])[0])
    variable = observation["variables"].get(name)
    if variable is None or variable["bytes"] is None:
        return "unobserved", ""
    return "holds", (variable["bytes"], whole_addresses(variable))


def short(value):
    """Bytes and addresses for a table."""
    bytes_, addresses = value
    text = bytes_ if len(bytes_) <= 48 else bytes_[:44] + "…"
    for offset, symbol, addend, *lanes in addresses:
        text += f" [{offset}]={symbol}{addend:+}" if addend else f" [{offset}]={symbol}"
        text += f" bytes {lanes[0]}" if lanes else ""
    return f"`{text}`"


def without_undef(value, ir_line):
    """Where the IR leaves a value open every answer is right: such globals are compared by size alone."""
    return (len(value[0]), value[1]) if re.search(r"\b(undef|poison)\b", ir_line) else value


def judge(ir, oracle, ptxas, line):
    """The verdict of one global."""
    if isinstance(ir, str):
        return f"no IR prediction: {ir}"
    if oracle[0] in ("unmodelled", "refused"):
        what = "breaks the specification" if oracle[0] == "refused" else "is not modelled"
        ptxas = f"ptxas takes it as {short(ptxas[1])}, IR {short(ir)}" if ptxas[0] == "holds" else "ptxas refuses it"
        return f"the PTX {what} ({oracle[1]}); {ptxas}"
    if ptxas[0] != "holds":
        return f"ptxas parts: {ptxas[0]}, {ptxas[1]}"
    same_ir = without_undef(ir, line) == without_undef(oracle[1], line)
    same_ptxas = oracle[1] == ptxas[1]
    if same_ir and same_ptxas:
        return "IR = oracle = ptxas"
    if same_ptxas and ir[1] == ptxas[1][1] and ir[0].rstrip("0") == ptxas[1][0].rstrip("0"):
        sizes = len(ir[0]) // 2, len(ptxas[1][0]) // 2
        return f"LLVM differs in size: {sizes[0]} bytes in the IR, {sizes[1]} for oracle = ptxas"
    if same_ptxas:
        return f"LLVM differs: IR {short(ir)}, oracle = ptxas {short(ptxas[1])}"
    if same_ir:
        return f"ptxas parts: IR = oracle {short(ir)}, ptxas {short(ptxas[1])}"
    return f"all part: IR {short(ir)}, oracle {short(oracle[1])}, ptxas {short(ptxas[1])}"


def emit_all(version, work):
    """(module, file of the PTX, (IR's answer, the specification's answer, its JSON)) of every global; of what LLVM cannot
    print, no file and why."""

    def emit(module):
        file, name, ir = module
        emitted = llc(version, NVPTX + ir, "-march=nvptx64", "-mcpu=sm_80", "-mattr=+ptx75")
        if emitted.returncode:
            lines = [line for line in emitted.stderr.splitlines() if line.strip()]
            return module, None, f"LLVM fails: {lines[0] if lines else emitted.returncode}"
        path = os.path.join(work, f"{version}-{name}.ptx")
        with open(path, "w", encoding="utf-8") as out:
            out.write(emitted.stdout)
        told = run(PTXSMITH, "eval", "--json", path)
        oracle = json.loads(told.stdout) if told.stdout.strip() else {
            "outcome": "refused", "reason": "it does not parse"}
        ir_value, reason = from_object(version, name, ir)
        return module, path, (reason or ir_value, answer(oracle, name), oracle)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(emit, modules()))


def check(version, work):
    """Verdicts by (file, name)."""
    verdicts = {}
    emitted = emit_all(version, work)
    files = [path for _, path, _ in emitted if path]
    seen = run(f"{BUILT}/examples/observe", "ptxas@13.5", "--relocatable", *files)
    if seen.returncode:
        sys.exit(f"check-emitters: {seen.stderr}")
    judged = run(PTXSMITH, "check", "--subject", "ptxas@13.5", "--out", f"{work}/check-{version}", *files)
    if judged.returncode not in (0, 1):
        sys.exit(f"check-emitters: ptxsmith check: {judged.stderr}")
    print(f"LLVM {version}: ptxsmith check says:\n{judged.stdout}", file=sys.stderr)
    observations = dict(zip(files, map(json.loads, seen.stdout.splitlines()), strict=True))
    for (file, name, ir), path, told in emitted:
        if path is None:
            verdicts[file, name] = told
        else:
            line = ir.splitlines()[-1]
            verdicts[file, name] = judge(*told[:2], answer(observations[path], name), line)
    return verdicts


def name_clauses(oracle, name):
    """The clauses that decide what the specification says of a global."""
    if oracle["outcome"] == "refused":
        return (oracle.get("refusal") or {}).get("clauses") or []
    return (oracle.get("variables", {}).get(name) or {}).get("clauses") or []


def report(folder):
    """The answers of IR and specification as a ptxsmith.report/1, for `ptxsmith atlas`: an LLVM deviates where the PTX that it
    prints holds something else than its IR says, or is refused."""
    subjects, cases, findings = [], [], {}
    for nth, version in enumerate(VERSIONS):
        with tempfile.TemporaryDirectory() as work:
            emitted = emit_all(version, work)
            texts = {path: pathlib.Path(path).read_text(encoding="utf-8") for _, path, _ in emitted if path}
        clauses, counts = {}, {"compared": 0, "conform": 0, "unsupported": 0}
        for (file, name, ir), path, told in emitted:
            case = {"name": f"emitted/llvm-{version}/{name}.ptx", "program": texts.get(path, f"// {told}\n") if path else f"// {told}\n"}
            if not path or isinstance(told[0], str) or told[1][0] not in ("holds", "refused"):
                standing = "u" if not path else "n"
                counts["unsupported"] += 1
            else:
                line = ir.splitlines()[-1]
                ir_value, (outcome, value), oracle = told
                same = outcome == "holds" and without_undef(ir_value, line) == without_undef(value, line)
                standing = "c" if same else "d"
                counts["compared"] += 1
                counts["conform"] += same
                broken = [] if same else name_clauses(oracle, name) if outcome == "refused" else []
                for clause in name_clauses(oracle, name) if same else broken:
                    entry = clauses.setdefault(clause, {"compared": 0, "conform": 0, "deviates": 0})
                    entry["compared"] += 1
                    entry["conform" if same else "deviates"] += 1
                if not same:
                    what = "is printed as PTX that the specification refuses" if outcome == "refused" else "is printed with other contents"
                    found = findings.setdefault(f"llvm-{name.replace('_', '-')}", {
                        "id": f"llvm-{name.replace('_', '-')}", "status": "known", "class": "wrong-value", "subjects": [],
                        "clauses": broken, "count": 0, "program": texts[path], "variable": name,
                        "title": f"the global {name} of emitters/{file} {what}: its IR means {short(ir_value).strip('`')}",
                        "expected": oracle, "repeat": "scripts/check-emitters",
                        "observed": {"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {name: {
                            "space": "global", "size": len(ir_value[0]) // 2, "align": None, "bytes": ir_value[0],
                            "addresses": [{"offset": offset, "width": 8, "symbol": symbol, "addend": addend, "generic": False,
                                           "byte": None} for offset, symbol, addend in ir_value[1]]}}},
                    })
                    found["subjects"].append(f"llvm@{version}")
                    found["count"] += 1
            case["standings"] = "n" * nth + standing + "n" * (len(VERSIONS) - 1 - nth)
            cases.append(case)
        told = run(f"llc-{version}", "--version").stdout
        number = re.search(r"LLVM version (\S+)", told)
        subjects.append({
            "id": f"llvm@{version}", "version": number and number.group(1), "lineage": "llvm", "available": True,
            "compared": counts["compared"], "conform": counts["conform"], "clauses": clauses,
            "not_compared": {"unsupported": counts["unsupported"]},
        })
    version = run(PTXSMITH, "--version").stdout.split()
    made = {
        "schema": "ptxsmith.report/1", "ptxsmith": version[1] if len(version) > 1 else "", "command": "check-emitters", "complete": True,
        "subjects": subjects, "compared": sum(s["compared"] for s in subjects), "conform": sum(s["conform"] for s in subjects),
        "findings": [findings[id] for id in sorted(findings)], "cases": sorted(cases, key=lambda case: case["name"]),
    }
    if not made["compared"]:
        sys.exit("check-emitters: nothing was compared")
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    manifest = {"schema": "ptxsmith.manifest/1", "started": now, "ended": now,
                "command_line": ["scripts/check-emitters", "--report", os.path.basename(folder)]}
    os.makedirs(folder, exist_ok=True)
    for name, what in [("report.json", made), ("manifest.json", manifest)]:
        pathlib.Path(folder, name).write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")


def main():
    if "--report" in sys.argv[1:]:
        return report(sys.argv[sys.argv.index("--report") + 1])
    with tempfile.TemporaryDirectory() as work:
        verdicts = {version: check(version, work) for version in VERSIONS}
    counts = {v: sum(verdict == "IR = oracle = ptxas" for verdict in verdicts[v].values()) for v in VERSIONS}
    lines = [f"LLVM {v}: {counts[v]} of {len(verdicts[v])} globals agree in all three.\n" for v in VERSIONS]
    lines.append("\n| file | global | " + " | ".join(f"LLVM {v}" for v in VERSIONS) + " |\n")
    lines.append("| --- | --- |" + " --- |" * len(VERSIONS) + "\n")
    for file, name in verdicts[VERSIONS[0]]:
        cells = [verdicts[v][file, name].replace("|", "\\|") for v in VERSIONS]
        lines.append(f"| {file} | `{name}` | " + " | ".join(cells) + " |\n")
    table = "".join(lines)
    with open(PAGE, encoding="utf-8") as page:
        before, rest = page.read().split("<!-- measured -->\n", 1)
    was, after = rest.split("<!-- end -->", 1)
    if "--write" in sys.argv[1:]:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(f"{before}<!-- measured -->\n{table}<!-- end -->{after}")
        return None
    print(table, end="")
    if was != table:
        sys.exit(f"check-emitters: this is not the table in {PAGE}; --write puts it there")


main()
