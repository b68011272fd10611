"""What scripts/readings does with the suite: chooses cases, and makes a table of verdicts."""

import json
import pathlib
import sys


def choose(manifest: pathlib.Path) -> None:
    """Leaves in a manifest the cases that one open question decides, and the twins that they name, in a version that every
    release takes: none of them needs the one of the suite's usual header."""
    suite = json.loads(manifest.read_text())
    decided = [case for case in suite["cases"] if case["readings"] and len(case["questions"]) == 1]
    named = {case["twin"] for case in decided}
    suite["cases"] = decided + [case for case in suite["cases"] if case["id"] in named and case not in decided]
    for case in suite["cases"]:
        file = manifest.parent / case["file"]
        file.write_text(file.read_text().replace(".version 7.8\n", ".version 7.7\n"))
    manifest.write_text(json.dumps(suite))


def consistent(case: dict, question: str, answers: list[str], line: dict) -> set[str] | None:
    """The answers that a verdict is consistent with; `None` for one that tells nothing of the question."""
    told = {reading["answers"][question]: reading["expected"] for reading in case["readings"]}
    if line["verdict"] == "conforms":
        return set(answers) - set(told)
    if line["verdict"] == "reading":
        return {answer for answer in told if told[answer] == told[line["what"][question]]}
    return None


def ranges(releases: list[str], followed: list[str]) -> str:
    """Releases as intervals of those that were asked."""
    out, start = [], None
    for nth, release in enumerate(releases):
        if release in followed and start is None:
            start = release
        if start and (release not in followed or nth + 1 == len(releases)):
            end = release if release in followed else releases[nth - 1]
            out.append(start if start == end else f"{start} to {end}")
            start = None
    return ", ".join(out)


def table(work: pathlib.Path, releases: list[str]) -> None:
    """The page, with the table as it was measured."""
    suite = json.loads((work / "suite/manifest.json").read_text())
    cases = {case["id"]: case for case in suite["cases"] if case["readings"] and len(case["questions"]) == 1}
    rows = []
    for question, told in sorted(suite["questions"].items()):
        answers = [answer["name"] for answer in told["answers"]]
        asked, followed = set(), {}
        for release in releases:
            sets = []
            for line in map(json.loads, (work / f"{release}.jsonl").read_text().splitlines()):
                case = cases.get(line["case"])
                if case and case["questions"] == [question]:
                    found = consistent(case, question, answers, line)
                    if found is not None:
                        asked.add(case["id"])
                        sets.append(found)
            if sets:
                both = set.intersection(*sets)
                name = " or ".join(f"`{answer}`" for answer in answers if answer in both) or "one or another, by case"
                followed.setdefault(name, []).append(release)
        cell = "; ".join(f"{name} ({ranges(releases, those)})" for name, those in followed.items())
        rows.append(f"| `{question}` | `{answers[0]}` | {cell or 'data do not show it'} | {len(asked)} |")
    head = ["| question | the text's answer | followed by | cases |", "| --- | --- | --- | ---: |"]
    before, rest = pathlib.Path("docs/readings.md").read_text().split("<!-- measured -->\n", 1)
    after = rest.split("<!-- end -->", 1)[1]
    print(before + "<!-- measured -->\n" + "\n".join(head + rows) + "\n<!-- end -->" + after, end="")


if __name__ == "__main__":
    if sys.argv[1] == "choose":
        choose(pathlib.Path(sys.argv[2]))
    else:
        table(pathlib.Path(sys.argv[2]), sys.argv[3:])
