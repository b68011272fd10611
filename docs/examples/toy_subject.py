"""A toy implementation of PTX data as a subject of ptxsmith: integer literals in scalars and one-dimensional arrays.

    ptxsmith check module.ptx --subject 'exec:python3 docs/examples/toy_subject.py'
    ptxsmith check module.ptx --subject 'serve:python3 docs/examples/toy_subject.py'

With a file it answers for that file (exec:), without one it answers a line for each line (serve:). What it lacks it
says to be unsupported, which is counted apart; it never guesses.
"""

import json
import re
import sys

SIZES = {"u8": 1, "s8": 1, "b8": 1, "u16": 2, "s16": 2, "b16": 2,
         "u32": 4, "s32": 4, "b32": 4, "u64": 8, "s64": 8, "b64": 8}
DECLARATION = re.compile(
    r"(?:\.(?P<linking>visible|weak)\s+)?\.(?P<space>global|const)\s+(?:\.align\s+(?P<align>\d+)\s+)?"
    r"\.(?P<type>\w+)\s+(?P<name>[A-Za-z_$%][\w$]*)\s*(?P<array>\[\s*(?P<count>\d*)\s*\])?\s*(?:=\s*(?P<value>.*))?",
    re.DOTALL)
LITERAL = re.compile(r"(-?)\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?")


class Unsupported(Exception):
    """The text is beyond a toy."""


def literal(text, size):
    """The bytes of one value."""
    match = LITERAL.fullmatch(text.strip())
    if not match:
        raise Unsupported(f"value {text.strip()!r}")
    digits = match[2].lower()
    base = 16 if digits.startswith("0x") else 2 if digits.startswith("0b") else 8 if digits.startswith("0") else 10
    value = int(digits.removeprefix("0x").removeprefix("0b"), base) * (-1 if match[1] else 1)
    return (value % (1 << (8 * size))).to_bytes(size, "little")


def variable(statement):
    """Name and contents of one declared variable."""
    match = DECLARATION.fullmatch(statement.strip())
    if not match or match["type"] not in SIZES:
        raise Unsupported(f"statement {statement.strip()!r}")
    size = SIZES[match["type"]]
    value = match["value"]
    if match["array"]:
        values = [] if value is None else value.strip().removeprefix("{").removesuffix("}").split(",")
        contents = [literal(item, size) for item in values]
        count = int(match["count"], 10) if match["count"] else len(contents)
        if len(contents) > count:
            raise ValueError("more values than elements")
        contents = b"".join(contents) + bytes(size * (count - len(contents)))
    else:
        contents = bytes(size) if value is None else literal(value, size)
    return match["name"], {
        "space": match["space"], "size": len(contents), "align": None,
        "bytes": contents.hex(), "addresses": [],
    }


def observe(ptx):
    """The observation of one module."""
    answer = {"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {}}
    ptx = re.sub(r"/\*.*?\*/|//[^\n]*", " ", ptx, flags=re.DOTALL)
    ptx = re.sub(r"\.(version|target|address_size)\s+[^\n]*", " ", ptx)
    try:
        for statement in filter(str.strip, ptx.split(";")):
            name, contents = variable(statement)
            if name in answer["variables"]:
                raise ValueError(f"{name} is declared twice")
            answer["variables"][name] = contents
    except Unsupported as lacks:
        return answer | {"outcome": "unsupported", "reason": str(lacks), "variables": {}}
    except ValueError as error:
        message = {"severity": "error", "line": None, "message": str(error)}
        return answer | {"outcome": "refused", "diagnostics": [message], "variables": {}}
    return answer


def main():
    """Describes itself, answers for a file, or serves."""
    if "--describe" in sys.argv:
        print(json.dumps({
            "schema": "ptxsmith.subject/1", "name": "toy", "version": "1", "lineage": "toy",
            "max_ptx": "7.8", "targets": ["sm_80"], "relocations": False,
        }))
    elif len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            print(json.dumps(observe(file.read())))
    else:
        for line in sys.stdin:
            question = json.loads(line)
            print(json.dumps({"id": question["id"], "observation": observe(question["ptx"])}), flush=True)


main()
