"""The second half of scripts/check-cuda-headers, which says what it is for."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/cuda.md"
READ = ROOT / "corpus/cuda/headers/read.txt"
CUDA = pathlib.Path(os.environ["CUDA_HEADERS"]) / "cuda"
CLANG = os.environ["CLANG"]
PTXSMITH = os.environ["PTXSMITH"]


def measured(command):
    """Runs a command: its answer, its processor time in seconds, its peak memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return answer, seconds, after.ru_maxrss / 1024


def flags_of(file):
    """What a first line `// flags: ...` says."""
    first = file.read_text().splitlines()[0]
    return first.removeprefix("// flags:").split() if first.startswith("// flags:") else []


def check(file, more=()):
    command = [PTXSMITH, "cuda", "check", "--clang", CLANG, "--timeout", "5m", "--format", "json", *more]
    return measured([*command, str(file.relative_to(ROOT)), "--", f"--cuda-path={CUDA}", *flags_of(file)])


def marked(file):
    """The lines that say `// violation: KEY`."""
    lines = enumerate(file.read_text().splitlines(), 1)
    return {number for number, line in lines if "// violation: " in line}


def headers(files):
    """Reports about headers, against the list of those that were read: `PLACE | VARIABLE | KEYS | WHY`."""
    read = [line.split(" | ")[:3] for line in READ.read_text().splitlines() if line and not line.startswith("#")]
    read = {tuple(row) for row in read}
    found = {}
    for file in files:
        answer, _, _ = check(file, ["--header-filter", "/cuda/include/"])
        report = json.loads(answer.stdout)["files"][0]
        for finding in report["findings"]:
            if not finding["file"].endswith(file.name):
                place = finding["file"].split("/cuda/include/")[-1]
                row = (f"{place}:{finding['line']}", finding["variable"], ", ".join(finding["keys"]))
                found.setdefault(row, file.name)
        for missing in report["not_analysed"]:
            print(f"{file.name}: {missing.replace(str(CUDA), '$CUDA')}")
    for row in sorted(set(found) - read):
        print(f"not read: {' | '.join(row)} | {found[row]}")
    for row in sorted(read - set(found)):
        print(f"no longer reported: {' | '.join(row)}")
    print(f"{len(found)} different reports about headers, of which {len(read & set(found))} were read")
    sys.exit(1 if set(found) != read else 0)


def main():
    files = sorted((ROOT / "corpus/cuda/headers").glob("*.cu"))
    if "--headers" in sys.argv:
        return headers(files)
    wrong, rows, beyond, peak = 0, [], [], 0
    for file in files:
        answer, seconds, memory = check(file)
        if answer.returncode not in (0, 1):
            print(f"{file.name}: {answer.stderr}{answer.stdout}")
            wrong += 1
            continue
        report = json.loads(answer.stdout)["files"][0]
        own = {finding["line"] for finding in report["findings"] if finding["file"].endswith(file.name)}
        others = [finding for finding in report["findings"] if not finding["file"].endswith(file.name)]
        if own != marked(file) or others or report["not_analysed"]:
            print(f"{file.name}: {json.dumps(report, indent=1)}")
            wrong += 1
        flags = ["-x", "cuda", "--cuda-device-only", "-nocudalib", f"--cuda-path={CUDA}"]
        if not flags_of(file):
            flags.append("--cuda-gpu-arch=sm_70")
        flags += ["-Xclang", "-target-sdk-version=12.0", "-std=c++17", "-w", "-fsyntax-only", *flags_of(file)]
        _, alone, _ = measured([CLANG, *flags, str(file)])
        dump = f"{CLANG} {' '.join(flags)} -Xclang -ast-dump=json {file} > /dev/null"
        _, dumping, _ = measured(["sh", "-c", dump])
        rows.append(f"| `{file.name}` | {alone:.1f} | {dumping:.1f} | {seconds:.1f} |")
        beyond.append(seconds - dumping)
        peak = max(peak, memory)
    version = subprocess.run([CLANG, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    table = ["| file | clang checks the syntax, s | clang prints the tree, s | all, s |", "| --- | --- | --- | --- |"]
    table += [*rows, ""]
    median = sorted(beyond)[len(beyond) // 2] if beyond else 0
    table.append(
        f"Processor time; median {median:.1f} s beyond clang's own with its tree, {peak:.0f} MB at most, "
        f"{version.split('(')[0].strip()}, {time.strftime('%Y-%m-%d')}."
    )
    text = "\n".join(table)
    print(text)
    if "--write" in sys.argv:
        begin, end = "<!-- headers -->\n", "\n<!-- end of headers -->"
        page = PAGE.read_text()
        before, rest = page.split(begin)
        PAGE.write_text(before + begin + text + end + rest.split(end)[1])
    sys.exit(1 if wrong else 0)


main()
