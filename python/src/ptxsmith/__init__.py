"""What the PTX specification says that a program holds, and whether implementations agree.

    >>> import ptxsmith
    >>> ptx = ".version 7.8\\n.target sm_80\\n.global .s16 x[2] = {1, -2};\\n"
    >>> ptxsmith.hold(ptx, "x").bytes.hex()
    '0100feff'

A thin layer over the program `ptxsmith`, which is in the same package: each call starts it once.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Union

__all__ = [
    "Address", "Error", "Finding", "Module", "NoAnswer", "Report", "Unexpected", "Variable", "Warning",
    "check", "eval", "expect", "hold", "lint", "program", "run",
]

Ptx = Union[str, "os.PathLike[str]"]


class Error(Exception):
    """The input is no PTX, an option is wrong, or the program failed; the text is what it said."""


class NoAnswer(Error):
    """The specification refuses the module, does not decide it, or it has no such variable."""


class Unexpected(AssertionError):
    """The answer is another than the one expected, or the specification does not decide."""


@dataclass(frozen=True)
class Address:
    """An address in a variable, which a linker or loader puts in."""

    offset: int
    width: int
    symbol: str
    addend: int
    generic: bool
    byte: Optional[int]


@dataclass(frozen=True)
class Variable:
    """What a variable at module scope holds before any kernel runs."""

    space: str
    size: int
    align: int
    bytes: Optional[bytes]  # None where there are more than 2^28
    addresses: Sequence[Address]
    clauses: Sequence[str]
    readings: Mapping[str, str]


@dataclass(frozen=True)
class Module:
    """What the specification says of a module."""

    outcome: str
    variables: Mapping[str, Variable]
    refusal: Optional[Mapping[str, Any]]
    valid: Optional[bool]
    undecided: Sequence[Mapping[str, Any]]
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Warning:
    """A form that some releases of ptxas take otherwise than the specification says, or an error where it refuses."""

    line: int
    column: int
    level: str
    id: str
    message: str
    releases: Optional[str]
    work_around: Optional[str]
    link: Optional[str]


@dataclass(frozen=True)
class Finding:
    """A deviation: `status` is new, known or gone."""

    id: str
    status: str
    kind: str
    title: str
    clauses: Sequence[str]
    subjects: Sequence[str]
    program: str
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Report:
    """What implementations did with a module."""

    compared: int
    conform: int
    findings: Sequence[Finding]
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def new(self) -> Sequence[Finding]:
        """Deviations that are not listed, and listed ones that no longer reproduce."""
        return [finding for finding in self.findings if finding.status != "known"]

    @property
    def known(self) -> Sequence[Finding]:
        """Listed deviations that show."""
        return [finding for finding in self.findings if finding.status == "known"]


def program() -> str:
    """The path of the program: that of PTXSMITH, of this installation, or of PATH."""
    named = os.environ.get("PTXSMITH")
    if named:
        return named
    name = "ptxsmith.exe" if os.name == "nt" else "ptxsmith"
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    if os.name != "nt":
        folders.append(sysconfig.get_path("scripts", "posix_user"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if not found:
        raise Error("the program ptxsmith is not there: reinstall the package, or set PTXSMITH to its path")
    return found


def run(args: Sequence[str], input: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    """Starts the program; its exit status is `returncode`."""
    path = program()
    try:
        return subprocess.run([path, *args], input=input, capture_output=True, text=True, encoding="utf-8")
    except OSError as error:
        raise Error(f"{path} cannot be started: {error.strerror}") from error


def _asked(command: Sequence[str], ptx: Ptx, args: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    if isinstance(ptx, str):
        if "\n" not in ptx and ptx.endswith(".ptx"):
            raise Error(f"a str is the text of a module; for a file give pathlib.Path({ptx!r})")
        done = run([*command, "-", *args], input=ptx)
    elif isinstance(ptx, (bytes, bytearray)):
        raise Error("give the text of a module as str: ptx.decode()")
    else:
        done = run([*command, os.fspath(ptx), *args])
    if done.returncode not in (0, 1, 3):
        raise Error(done.stderr.strip())
    return done


def _reading_args(readings: Optional[Mapping[str, str]]) -> list[str]:
    return [part for question, answer in (readings or {}).items() for part in ("--reading", f"{question}={answer}")]


def eval(ptx: Ptx, readings: Optional[Mapping[str, str]] = None) -> Module:
    """What the specification says of a module; `readings` answers open questions otherwise than by default."""
    raw = json.loads(_asked(["eval"], ptx, ["--json", *_reading_args(readings)]).stdout)
    variables = {
        name: Variable(
            space=held["space"], size=held["size"], align=held["align"], bytes=None if held["bytes"] is None else bytes.fromhex(held["bytes"]),
            addresses=[Address(**address) for address in held["addresses"]],
            clauses=held["clauses"], readings=held["readings"],
        )
        for name, held in raw["variables"].items()
    }
    return Module(raw["outcome"], variables, raw.get("refusal"), raw.get("valid"), raw.get("undecided", []), raw)


def hold(ptx: Ptx, name: str, readings: Optional[Mapping[str, str]] = None) -> Variable:
    """What one variable holds. Raises NoAnswer where the specification does not say."""
    module = eval(ptx, readings)
    if name in module.variables:
        return module.variables[name]
    if module.refusal:
        raise NoAnswer(f"line {module.refusal['line']}: {module.refusal['summary']}")
    for part in [*module.undecided, *module.raw.get("unmodelled", [])]:
        if part.get("part", part.get("variable")) in (name, f"variable {name}"):
            raise NoAnswer(f"the specification does not decide it: {part['reason']}")
    raise NoAnswer(f"no variable {name} with storage in .global or .const")


def expect(ptx: Ptx, answer: str = "accepted") -> None:
    """Raises Unexpected unless the specification's answer is this one: accepted, refused or valid."""
    done = _asked(["eval"], ptx, ["--expect", answer, "--color", "never"])
    if done.returncode != 0:
        why = "the specification does not decide" if done.returncode == 3 else f"the answer is not `{answer}`"
        raise Unexpected(f"{why}\n{done.stdout.strip()}")


def lint(ptx: Ptx, releases: Sequence[str] = ()) -> Sequence[Warning]:
    """Forms that releases of ptxas (all listed ones, or these) take otherwise than the specification says."""
    args = [part for release in releases for part in ("--release", release)]
    raw = json.loads(_asked(["lint"], ptx, ["--format", "json", *args]).stdout)
    fields = Warning.__dataclass_fields__
    return [Warning(**{name: warning[name] for name in fields}) for warning in raw["warnings"]]


def check(ptx: Ptx, *subjects: str, timeout: Optional[str] = None) -> Report:
    """What implementations do with a module: ptxas@13.5, exec:CMD, serve:CMD ... [default: ptxas]."""
    args = [part for subject in subjects for part in ("--subject", subject)]
    if timeout:
        args += ["--timeout", timeout]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        done = _asked(["check"], ptx, [*args, "--quiet", "--out", str(out)])
        try:
            raw = json.loads((out / "report.json").read_text(encoding="utf-8"))
        except OSError:
            raise Error(done.stderr.strip() or done.stdout.strip()) from None
    findings = [
        Finding(found["id"], found["status"], found["class"], found["title"], found["clauses"], found["subjects"],
                found["program"], found)
        for found in raw["findings"]
    ]
    return Report(raw["compared"], raw["conform"], findings, raw)
