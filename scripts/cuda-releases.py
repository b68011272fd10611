"""The second half of scripts/cuda-releases, which says what it is for."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/cuda-releases.md"
CICCS = ["11.8", "12.4", "13.0", "13.1", "13.2", "13.3", "13.4", "13.5"]
KEYS = {
    "const_host_var_not_initialized_before_use": "not initialized",
    "device_uses_volatile_const_host_var": "volatile",
    "device_uses_const_host_var_of_invalid_type": "type",
    "address_of_host_var_in_device_code": "address",
}


def subjects():
    yield from ((f"cicc {release}", f"cicc@{release}") for release in CICCS)
    for version in os.environ["CLANGS"].split():
        path = shutil.which(f"clang-{version}")
        if path:
            yield f"clang {version}", f"clang:{path}"
        else:
            print(f"scripts/cuda-releases: clang-{version} is not in PATH", file=sys.stderr)


def run(subject):
    with tempfile.TemporaryDirectory() as out:
        command = [os.environ["PTXSMITH"], "cuda", "run", "--subject", subject, "--cases", os.environ["CASES"], "--out", out]
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode not in (0, 1):
            sys.exit(f"{subject}: {answer.stderr}")
        return json.loads((pathlib.Path(out) / "report.json").read_text())


def share(part, whole):
    return f"{part} of {whole}"


def main():
    verdicts, deviations, readings, new = [], {}, {}, 0
    names = []
    for name, subject in subjects():
        report = run(subject)
        names.append(name)
        told = report["subjects"][0]
        cells = [f"{name} ({told['version']})", share(told["allowed"]["refused"], told["allowed"]["uses"])]
        for key in KEYS:
            clear = told["forbidden"][key]["under_every_reading"]
            cells.append(share(clear["refused"], clear["uses"]))
        verdicts.append(cells)
        for finding in report["findings"]:
            new += finding["status"] == "new"
            clauses = ", ".join(clause.split("/")[1] for clause in finding["departs_from"])
            deviations.setdefault((finding["id"], finding["title"], clauses), {})[name] = finding["count"]
        for question, answers in report["readings"][told["id"]].items():
            counts = list(answers.items())
            if sum(count for _, count in counts) > 0:
                answer = max(counts, key=lambda entry: entry[1])
                split = all(count for _, count in counts)
                readings.setdefault(question, {})[name] = answer[0] + (" (not always)" if split else "")

    def table(head, rows):
        lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
        return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])

    page = f"""# The rule on host `const` variables, by compiler release

This page is for users of CUDA C++ compilers. `scripts/cuda-releases` renders it. [cuda.md](cuda.md) says what is compared
and what a compiler's answer does not show. `cicc` of other releases of CUDA 12 is in no package of PyPI or Debian.

<!-- measured -->
{time.strftime('%Y-%m-%d')}: {os.environ['CASES']} uses of `ptxsmith cuda gen --seed 0`, the whole table and some draws.
`cicc` 11.8 does not know C++20, which some need.

## Refused

Of the uses that the rule allows, and of those that it forbids under every interpretation, by the primary message: how many the
compiler refuses.

{table(["compiler", "allowed", *KEYS.values()], verdicts)}

## Deviations

Uses that differ from the rule, by the entry of `cuda/src/known.rs`, with the clauses that it departs from (`cuda/src/rule.rs`); an empty cell is
none.

{table(["deviation", "clause", *names], [[f"`{name}`: {title}", clauses, *(counts.get(n, "") for n in names)] for (name, title, clauses), counts in sorted(deviations.items())])}

## Open questions

Which answer fits the compiler, where uses tell; both do in part where it says "not always".

{table(["question", *names], [[f"`{question}`", *(answers.get(n, "") for n in names)] for question, answers in sorted(readings.items())])}
<!-- end -->
"""
    if "--write" in sys.argv:
        PAGE.write_text(page)
    else:
        print(page)
    sys.exit(1 if new else 0)


main()
