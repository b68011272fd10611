"""The inputs, runs and table of scripts/bench-reduce, which says what it is for."""

import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import time

WORK, LIMIT = sys.argv[1], int(sys.argv[2])
LINES, KINDS, REDUCERS = (argument.split() for argument in sys.argv[3:6])
PTXSMITH, PTXAS = os.environ["PTXSMITH"], os.environ["PTXAS"]

# INT64_MIN / -1 inside a larger expression kills ptxas; rows that are not complete are packed to the front.
NEEDLES = {
    "crash": ".visible .global .align 16 .s64 needle[3] = "
    "{17, 40 + (12 * (5 - (-9223372036854775807 - 1) / (-1)) >> 3), 0x7F};",
    "value": ".visible .global .align 8 .s32 needle[5][4] = "
    "{{1, 2, 3, 4}, {5 + 6, 7}, {8 * 9}, {10, 11, 12}, {13}};",
}

# What the peers ask. The crash: killed by SIGFPE (a shell says 128 + 8). The value: ptxas takes the program, and
# `ptxsmith check` sees the known deviation. That costs some 0.3 s a call, so of these lines compare the calls.
INTERESTING = {
    "crash": """#!/bin/sh
echo x >> "$COUNT"
"$PTXAS" -arch=sm_80 "$1" -o /dev/null > /dev/null 2>&1
[ $? = 136 ]
""",
    "value": """#!/bin/sh
echo x >> "$COUNT"
"$PTXSMITH" check "$1" --subject "ptxas:$PTXAS" --quiet 2> /dev/null | grep -q 'incomplete inner rows are packed'
""",
}


def program(lines, needle):
    """Declarations that ptxas gets right, drawn from a generator of our own, and the needle after two thirds."""
    state = 1

    def below(bound):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % bound

    def addresses(number):
        # Of the variable before, where that is in .global.
        name = f"v{number - 1}" if out[-1].split(" v")[0].startswith((".global", ".visible .global")) else None
        if name is None or f" {name}" not in out[-1]:
            return f".global .u8 v{number} = {below(256)};"
        return f".global .u64 v{number}[2] = {{{name}, generic({name}) + {4 * below(4)}}};"

    kinds = [
        lambda n: f".global .s32 v{n} = ({below(1000)} + {below(99)} * {1 + below(9)}) / {1 + below(50)};",
        lambda n: f".global .align {4 << below(4)} .u32 v{n}[4] = "
        f"{{{below(256)}, 0x{below(65536):X}, {below(9)}U << {below(20)}, ~{below(77)}}};",
        lambda n: f".visible .global .f32 v{n} = 0f3F8{below(1048576):05X};",
        lambda n: f".const .u8 v{n}[2][3] = {{{{{below(9)}, {below(9)}, {below(9)}}}, "
        f"{{{below(9)}, {below(9)}, {below(9)}}}}};",
        lambda n: f".global .v2 .s16 v{n} = {{{below(99)}, -{below(99)}}};",
        lambda n: f".global .f64 v{n}[2] = {{{below(99)}.{below(99)}, {below(9)}e-{below(9)}}};",
        lambda n: f".global .s64 v{n} = {below(5)} > {below(5)} ? {below(100)} : -{below(100)};",
        addresses,
    ]
    out = [".version 7.8", ".target sm_80", ".address_size 64"]
    at = 3 + (lines - 3) * 2 // 3
    while len(out) < lines:
        out.append(needle if len(out) == at else kinds[below(len(kinds))](len(out) + 1))
    return "\n".join(out) + "\n"


def measure(text):
    """Tokens behind the header, and bytes of the whole program, without comments."""
    text = re.sub(r"//[^\n]*\n?|/\*.*?\*/", " ", text, flags=re.S)
    body = re.sub(r"\.version\s*[\d.]+|\.target\s*\w+(\s*,\s*\w+)*|\.address_size\s*\d+", " ", text)
    tokens = re.findall(r"[.%$]?[A-Za-z_0-9$]+(?:\.\d*)?|<<|>>|&&|\|\||[<>=!]=|::|\S", body)
    return len(tokens), len("\n".join(line.strip() for line in text.splitlines() if line.strip()))


def run_peer(peer, kind, name, source):
    directory = os.path.join(WORK, f"{peer}-{name}")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    shutil.copy(source, os.path.join(directory, "a.ptx"))
    script, count = os.path.join(directory, "interesting.sh"), os.path.join(directory, "count")
    # The peers run it in directories of their own, with the file in them under its name; shrinkray names another one.
    with open(script, "w") as file:
        file.write(INTERESTING[kind].replace('"$1"', '"${1:-a.ptx}"'))
    os.chmod(script, 0o755)
    open(count, "w").close()
    command = {
        "cvise": ["cvise", "--n", str(os.cpu_count()), "--not-c", script, "a.ptx"],
        "creduce": ["creduce", "--n", str(os.cpu_count()), "--not-c", script, "a.ptx"],
        "shrinkray": ["shrinkray", "--ui=basic", "--no-history", "--no-clang-delta", "--parallelism", str(os.cpu_count()), script, "a.ptx"],
    }[peer]
    started, busy = time.monotonic(), busy_children()
    with open(os.path.join(directory, "log"), "w") as log:
        child = subprocess.Popen(
            command, cwd=directory, env=dict(os.environ, COUNT=count), stdout=log, stderr=log, start_new_session=True
        )
        try:
            child.wait(LIMIT)
            late = False
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 15)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                child.wait()
            late = True
    took, busy = time.monotonic() - started, busy_children() - busy
    with open(os.path.join(directory, "a.ptx")) as file:
        tokens, size = measure(file.read())
    calls = os.path.getsize(count) // 2
    said = f"not ended after {LIMIT / 60:.0f} min" if late else f"{took:.1f} s"
    return said, f"{busy:.1f} s", calls, size, tokens


def busy_children():
    """Processor time of all child processes that have ended, which does not depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_ours(name, source):
    out = os.path.join(WORK, f"ptxsmith-{name}.ptx")
    best = None
    # The best of three: starting ptxas for the first time reads it from the disk.
    for _ in range(3):
        started, busy = time.monotonic(), busy_children()
        command = [PTXSMITH, "reduce", source, "--subject", f"ptxas:{PTXAS}", "--out", out, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        took, busy = time.monotonic() - started, busy_children() - busy
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        runs = int(re.search(r"(\d+) runs", done.stdout).group(1))
        best = min(best or (took, busy, runs), (took, busy, runs))
    with open(out) as file:
        tokens, size = measure(file.read())
    took, busy, runs = best
    return f"{took:.2f} s", f"{busy:.2f} s", runs, size, tokens


def version(peer):
    if peer == "shrinkray":
        pip = os.path.join(os.path.dirname(shutil.which(peer)), "pip")
        said = subprocess.run([pip, "show", peer], capture_output=True, text=True).stdout
        return f"shrinkray {re.search(r'Version: (.*)', said).group(1)}"
    return subprocess.run([peer, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[0]


def main():
    print(f"{os.cpu_count()} cores, {platform.machine()}, {platform.freedesktop_os_release().get('PRETTY_NAME')}, "
          f"load before: {os.getloadavg()[0]:.1f}\n")
    for peer in REDUCERS:
        if peer != "ptxsmith" and shutil.which(peer):
            print(f"- {version(peer)}")
    print("\n| program | lines | reducer | time | processor | calls | bytes | tokens |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        for lines in LINES:
            name = f"{kind}-{lines}"
            source = os.path.join(WORK, f"{name}.ptx")
            with open(source, "w") as file:
                file.write(program(int(lines), NEEDLES[kind]))
            for reducer in REDUCERS:
                if reducer == "ptxsmith":
                    cells = run_ours(name, source)
                elif shutil.which(reducer):
                    cells = run_peer(reducer, kind, name, source)
                else:
                    cells = ("NOT TESTED: not installed", "", "", "", "")
                print(f"| {kind} | {lines} | {reducer} | " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


main()
