"""The work of scripts/check-emitted, which sets up what this needs."""

import collections
import concurrent.futures
import dataclasses
import datetime
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EMITTED = pathlib.Path(os.environ["EMITTED"])
CUDA = sorted(pathlib.Path("emitters/cuda").glob("*.cu"))
HEADERS = sorted(pathlib.Path("emitters/nvcc").glob("*.cu"))
LLVM = sorted(pathlib.Path("emitters/llc").glob("*.ll"))
OPENCL = sorted(pathlib.Path("emitters/opencl").glob("*.cl"))
SMALL = pathlib.Path("emitters/ptx")
PAGE = pathlib.Path("docs/emitted.md")
OUT = "{out}"  # in a command: the file that it writes, where it cannot print
RELEASES = "12.0", "12.9", "13.5"

# Of each clang: the PTX that it prints, and the architectures. The newest PTX that a release knows is not always what it
# prints without being asked.
CLANG = {"13": ("72", "60 75 86"), "14": ("75", "52 75 86"), "15": ("75", "70 80 86"), "16": ("78", "70 80 90"),
         "19": ("85", "75 80 90a"), "22": ("88", "75 90 100a")}
FLAVOURS = (".O2", ["-O2"]), (".O0", ["-O0"]), (".g", ["-O1", "-g"])
NVIDIA = {".sm_75.lineinfo": ["-arch=compute_75", "-lineinfo"], ".sm_80.rdc": ["-arch=compute_80", "-rdc=true"],
          ".sm_90.debug": ["-arch=compute_90", "-G"], ".sm_90": ["-arch=compute_90", "-use_fast_math"]}


def feature(ptx):
    return ["-Xclang", "-target-feature", "-Xclang", f"+ptx{ptx}"]


def clang_cuda(version, ptx, architecture, source, *options):
    return [f"clang-{version}", "-x", "cuda", "-std=c++17", "--cuda-device-only", f"--cuda-gpu-arch=sm_{architecture}",
            "-nocudainc", "-nocudalib", *feature(ptx), *options, str(source)]


def clang(version):
    """Each command prints to the standard output what becomes the named file."""
    ptx, architectures = CLANG[version]
    for architecture, (kind, options) in zip(architectures.split(), FLAVOURS):
        for source in CUDA:
            name = f"{source.stem}.sm_{architecture}{kind}"
            yield name, clang_cuda(version, ptx, architecture, source, *options, "-S", "-o", "-")


def opencl():
    for version in CLANG:
        for bits, target in ("", "nvptx64"), (".32", "nvptx"):
            for source in OPENCL:
                command = [f"clang-{version}", "-x", "cl", "-cl-std=CL1.2", "-target", f"{target}-unknown-nvcl", "-Xclang",
                           "-finclude-default-header", "-Xclang", "-target-cpu", "-Xclang", "sm_75", *feature("63")]
                yield f"{source.stem}.clang-{version}{bits}", [*command, "-O2", "-S", "-o", "-", str(source)]


def llc(version):
    """The IR that clang makes of the sources, and what other front ends would, for other architectures and other PTX."""
    for source in CUDA:
        front = clang_cuda(version, CLANG[version][0], "75", source, "-O1", "-S", "-emit-llvm", "-o", "-")
        for architecture, ptx in ("75", "63"), ("80", "70"):
            back = [f"llc-{version}", f"-mcpu=sm_{architecture}", f"-mattr=+ptx{ptx}", "-o", "-"]
            yield f"{source.stem}.sm_{architecture}", (front, back)
    for source in LLVM if int(version) > 15 else []:  # those write typed pointers
        for architecture, ptx in ("75", "63"), ("90", "78"):
            yield f"{source.stem}.sm_{architecture}", [f"llc-{version}", f"-mcpu=sm_{architecture}", f"-mattr=+ptx{ptx}",
                                                       "-o", "-", str(source)]


def nvcc(release):
    home = EMITTED / f"nvcc-{release}/nvidia/cu13"
    flavours = (("sm_75.lineinfo", "-lineinfo"), ("sm_80.debug", "-g -G"), ("sm_90.rdc", "-rdc=true -lineinfo"),
                ("sm_100", ""), ("sm_120.rdc.debug", "-rdc=true -G"))
    for name, options in flavours:
        for source in CUDA + (HEADERS if "75" not in name else []):
            command = [str(home / "bin/nvcc"), "-w", "-ptx", "-std=c++17", f"-arch={name.split('.')[0]}", *options.split()]
            yield f"{source.stem}.{name}", [*command, "-o", OUT, str(source)]


@dataclasses.dataclass
class Scripted:
    """A program of emitters/python, which writes many files into a folder and prints what it could not make."""

    command: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    def run(self, folder):
        return subprocess.run([*self.command, str(folder)], env={**os.environ, **self.environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True).stdout.splitlines()


def nvrtc(release):
    library, = (path for path in (EMITTED / f"nvrtc-{release}").glob("nvidia/*/lib/libnvrtc.so.*") if ".alt." not in path.name)
    return Scripted([sys.executable, "emitters/python/nvrtc.py", str(library)],
                    {"LD_LIBRARY_PATH": str(library.parent), "NVRTC_OPTIONS": json.dumps(NVIDIA)})


def python(name):
    return Scripted([str(EMITTED / name / "bin/python"), f"emitters/python/{name}_kernels.py"])


# Of each producer what makes its PTX: commands by file, or a function of the folder. And what a change of it makes anew.
PRODUCERS = {
    **{f"clang {version}": lambda version=version: clang(version) for version in os.environ["CLANGS"].split()},
    "clang, OpenCL C": opencl,
    **{f"llc {version}": lambda version=version: llc(version) for version in os.environ["LLCS"].split()},
    **{f"nvcc {release}": lambda release=release: nvcc(release) for release in ("13.0", "13.5")},
    **{f"NVRTC {release}": lambda release=release: nvrtc(release) for release in ("11.8", "12.0", "12.9", "13.0", "13.5")},
    "Triton 3.9": lambda: python("triton"),
    "numba-cuda 0.30": lambda: python("numba"),
    "Warp 1.19": lambda: python("warp"),
}


def folder_of(producer):
    return EMITTED / "ptx" / re.sub(r"[^A-Za-z0-9.]+", "-", producer).lower()


def make(folder, name, command):
    """One file from one command, or from two of which the second reads what the first prints."""
    front, back = command if isinstance(command, tuple) else (command, None)
    made = folder / f"{name}.ptx"
    done = subprocess.run([str(made) if word == OUT else word for word in front], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if back and done.returncode == 0:
        done = subprocess.run(back, input=done.stdout, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        told = next((line for line in lines if "error" in line), (lines or [f"status {done.returncode}"])[0])
        return f"{name}: {told}"
    if OUT not in front:
        made.write_bytes(done.stdout)
    return None


def produce(producer):
    """Makes a producer's PTX, unless it is there and made of the same in the same way."""
    folder = folder_of(producer)
    try:
        recipe = PRODUCERS[producer]()
        recipe = recipe if isinstance(recipe, Scripted) else list(recipe)
        sources = [*CUDA, *HEADERS, *LLVM, *OPENCL, *sorted(pathlib.Path("emitters").glob("*/*.h")),
                   *sorted(pathlib.Path("emitters").glob("*/*.py"))]
        made_of = b"".join([*(file.read_bytes() for file in sources), repr(recipe).encode()])
        stamp = hashlib.sha256(made_of).hexdigest()
        if (folder / "stamp").exists() and (folder / "stamp").read_text() == stamp:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if isinstance(recipe, Scripted):
            failed = recipe.run(folder)
        else:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                failed = [line for line in pool.map(lambda job: make(folder, *job), recipe) if line]
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"scripts/check-emitted: {producer} makes nothing: {error}", file=sys.stderr)
        return
    (folder / "failed").write_text("\n".join(failed))
    (folder / "stamp").write_text(stamp)
    print(f"{producer}: {len(list(folder.glob('*.ptx')))} files, {len(failed)} that it does not make", file=sys.stderr)


def timed(*command):
    """Runs a program; what it printed, its status, its own processor seconds and those of the processes that it started."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)  # pylint: disable=consider-using-with
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        own, others = (sum(map(int, fields[at:at + 2])) / os.sysconf("SC_CLK_TCK") for at in (11, 13))
        status = process.wait()
        out.seek(0), err.seek(0)
        return out.read() + err.read(), status, own, others


INITIALISED = re.compile(r"^(?:\.(?:visible|weak|common) )?\.(?:global|const) [^=;{]*?([\w$%]+)(?:\[[^\]]*\])* = ", re.M)
KERNEL = re.compile(r"\.entry\b[^{;]*\{(.*?)^\}", re.S | re.M)
MEMORY = re.compile(r"^\s*(?:ld|st|atom|red)\.(?!param)[^;]*\[", re.M)


@dataclasses.dataclass
class Row:
    """What is counted of a producer's files."""

    files: int = 0
    parsed: int = 0
    variables: int = 0  # with an initial value, by the text
    judged: int = 0  # of these
    memory: int = 0  # memory operands of kernels without labels and predicates, by the text
    compared: int = 0  # verdicts on variables and modules, of all releases
    known: int = 0
    new: int = 0
    unsupported: int = 0  # files that a release does not take
    undecided: int = 0
    aborted: int = 0  # files, where `check` failed
    own: float = 0
    others: float = 0

    def __add__(self, other):
        return Row(*(mine + its for mine, its in zip(dataclasses.astuple(self), dataclasses.astuple(other))))

    def __str__(self):
        def share(some, whole):
            return f"{some} of {whole}" if whole else "none"
        return (f"{self.files} | {share(self.parsed, self.files)} | {self.aborted} | {share(self.judged, self.variables)} | "
                f"{self.memory} | {self.compared} | {self.unsupported} | {self.undecided} | {self.known} | {self.new} | "
                f"{self.own:.1f} | {self.others:.1f}")


HEAD = ("files | parsed | aborted | initialised variables judged | memory operands of straight kernels | compared | unsupported | "
        "undecided, unobserved | known | new | own time (s) | processes (s)")


def expected(file):
    """What the specification says of one file, counted."""
    text = file.read_text(encoding="utf-8")
    straight = [body for body in KERNEL.findall(text) if not re.search(r"^\s*(?:[\w$]+:|@)", body, re.M)]
    row = Row(files=1, memory=sum(len(MEMORY.findall(body)) for body in straight))
    names = set(INITIALISED.findall(text))
    row.variables = len(names)
    said = subprocess.run([os.environ["PTXSMITH"], "eval", "--json", str(file)], capture_output=True, check=False)
    if said.returncode == 0:
        said = json.loads(said.stdout)
        row.parsed = not any("not understood" in str(part.get("reason")) for part in said.get("undecided", []))
        variables = said.get("variables") or {}
        row.judged = sum((variables.get(name) or {}).get("bytes") is not None for name in names)
    return row


def judged(folder, out):
    """What `check` says of the files of a folder, counted, and its new deviations."""
    files = sorted(folder.glob("*.ptx"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        row = sum(pool.map(expected, files), Row())
    shutil.rmtree(out, ignore_errors=True)
    subjects = [word for release in RELEASES for word in ("--subject", f"ptxas@{release}")]
    text, status, row.own, row.others = timed(os.environ["PTXSMITH"], "check", "--quiet", *subjects, "--out", str(out), *map(str, files))
    out.with_suffix(out.suffix + ".log").write_text(text, encoding="utf-8")
    if status == 4 or not (out / "report.json").exists():
        row.aborted = row.files
        return row, []
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    reasons = report["not_compared"]
    row.compared, row.unsupported = report["compared"], reasons.get("unsupported", 0)
    row.undecided = sum(count for reason, count in reasons.items() if reason != "unsupported")
    findings = collections.defaultdict(list)
    for finding in report["findings"]:
        findings[finding["status"]].append(finding)
    row.known, row.new = (sum(finding["count"] for finding in findings[kind]) for kind in ("known", "new"))
    return row, findings["new"]


def main():
    small = "--small" in sys.argv
    if not small:
        for producer in PRODUCERS:
            produce(producer)
    if "--bless" in sys.argv:
        bless()
    if {"--bless", "--produce"} & set(sys.argv):
        sys.exit(3 if os.environ["LACKING"] else 0)
    reports = EMITTED / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    folders = {"emitters/ptx": SMALL} if small else {producer: folder_of(producer) for producer in PRODUCERS}
    lines, whole, told = [f"| producer | {HEAD} |", "| --- " * (len(HEAD.split("|")) + 1) + "|"], Row(), []
    for producer, folder in folders.items():
        row, new = judged(folder, reports / folder.name)
        whole += row
        lines.append(f"| {producer} | {row} |")
        print(lines[-1], file=sys.stderr)
        told += [f"{producer}: {finding['count']} x {finding['class']}: {finding['title']} ({', '.join(finding['subjects'])})"
                 for finding in new]
    lines.append(f"| all | {whole} |")
    print("\n".join([*lines, "", *told]))
    if "--write" in sys.argv:
        before, mark, _ = PAGE.read_text(encoding="utf-8").partition("<!-- measured -->")
        new = "".join(f"- {line}\n" for line in told) or "None.\n"
        PAGE.write_text(before + mark + f"\nMeasured on {datetime.date.today()} with {' and '.join(RELEASES)}.\n\n"
                        + "\n".join(lines) + "\n\nNew deviations reported:\n\n" + new, encoding="utf-8")
    if told or whole.aborted or whole.parsed < whole.files:
        sys.exit(1)
    sys.exit(3 if os.environ["LACKING"] else 0)


def bless():
    """The part of clang's output that is in the repository: one flavour of each source, of versions old and new."""
    shutil.rmtree(SMALL, ignore_errors=True)
    SMALL.mkdir()
    for number, source in enumerate(CUDA):
        version, kind = ("14", ".O0") if number % 2 else ("16", ".O2")
        made, = folder_of(f"clang {version}").glob(f"{source.stem}.*{kind}.ptx")
        shutil.copy(made, SMALL / f"{source.stem}.clang-{version}{kind}.ptx")


if __name__ == "__main__":
    main()
