"""Attacks on ptxsmith; see scripts/attack."""

import argparse
import collections
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ".version 7.8\n.target sm_80\n.address_size 64\n"
MOST_SECONDS, MOST_MEMORY = 60, 2 << 30
STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def program():
    named = os.environ.get("PTXSMITH")
    built = [ROOT / "target" / kind / "ptxsmith" for kind in ("release", "debug")]
    found = [pathlib.Path(named)] if named else [path for path in built if path.exists()]
    if not found:
        sys.exit("attack: build ptxsmith first, or name it in PTXSMITH")
    return str(found[0].resolve())


class Attack:
    def __init__(self, share, seed, work):
        self.share, self.random, self.work = share, random.Random(seed), work
        self.counts, self.bad, self.notes = collections.OrderedDict(), [], []
        self.canary, self.elsewhere = work / "canary", work / "elsewhere"
        self.elsewhere.mkdir()

    def times(self, whole):
        return max(1, round(whole * self.share))

    def note(self, part, text):
        self.notes.append(f"{part}: {text}")

    def fail(self, part, what, text):
        self.bad.append(" ".join(f"{part}: {what}: {text[:400]}".split()))

    def run(self, part, args, allowed, what, stop=None, **options):
        """Runs ptxsmith, and notes what must not happen. Gives status, standard output and error."""
        files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        before = options.pop("before", "")
        # What an implementation does to its directory must not be done to the user's.
        options.setdefault("cwd", self.elsewhere)
        command = [PROGRAM, *map(str, args)]
        if before:
            command = ["sh", "-c", before + '; exec "$@"', "sh", *command]
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1], **options)
        sent, status, usage = None, None, None
        while status is None:
            pid, waited, used = os.wait4(child.pid, os.WNOHANG)
            now = time.monotonic()
            if pid:
                status, usage = os.waitstatus_to_exitcode(waited), used
            elif stop and sent is None and now - began >= stop[1]:
                child.send_signal(stop[0])
                sent = now
            elif now - began > MOST_SECONDS or sent and now - sent > 20:
                child.kill()
                self.fail(part, what, "it does not end")
                os.wait4(child.pid, 0)
                status = -9
            else:
                time.sleep(0.005)
        child.returncode = status
        out, err = ((file.seek(0), file.read(4 << 20))[1].decode(errors="replace") for file in files)
        for file in files:
            file.close()
        self.counts.setdefault(part, collections.Counter())[status] += 1
        if usage and usage.ru_maxrss * 1024 > MOST_MEMORY:
            self.fail(part, what, f"{usage.ru_maxrss >> 10} MB of memory")
        if "panicked" in err or "internal error" in err:
            self.fail(part, what, err)
        elif status not in allowed:
            self.fail(part, what, f"status {status}: {err or out}")
        if sent and time.monotonic() - sent > SECONDS_TO_STOP:
            self.fail(part, what, f"it took {time.monotonic() - sent:.1f} s to stop")
        if self.canary.exists():
            self.fail(part, what, "code was run, or a file was written elsewhere")
            self.canary.unlink()
        return status, out, err

    # The parts.

    def ptx(self):
        corpus = sorted((ROOT / "corpus").rglob("*.ptx"))
        path = self.work / "a.ptx"
        for number in range(self.times(500)):
            text = bytearray(self.large(number) if number % 10 == 0 else self.mutated(corpus))
            path.write_bytes(text)
            args = ["eval", path] + (["--json"] if number % 2 else [])
            self.run("hostile PTX", args, {0, 2}, f"program {number}: {bytes(text[:200])!r}")

    def large(self, number):
        size = self.random.choice([1_000, 10_000, 50_000])
        each = lambda form: "".join(form.replace("#", str(i)) for i in range(size))
        forms = [
            lambda: each(".func f#() { ret; }\n"),
            lambda: each(".global .s32 a# = #;\n"),
            lambda: ".global .u64 a0;\n" + "".join(f".global .u64 a{i + 1} = a{i};\n" for i in range(size)),
            lambda: ".entry k() {" + "{" * size + "}" * size + "ret;}\n",
            lambda: ".global .s32 a" + "[1]" * size + ";\n",
            lambda: ".global .s32 a = " + "(" * size + "1" + ")" * size + ";\n",
            lambda: ".global .s32 a[" + "9" * size + "] = {" + "{" * size,
            lambda: ".entry k() {" + each(".reg .b32 r#; {") + "}" * size + "ret;}\n",
            lambda: ".global .s32 " + "n" * size + " = " + "1+" * size + "1;\n",
            lambda: "/*" * size,
        ]
        return (HEADER + forms[(number // 10) % len(forms)]()).encode()

    def mutated(self, corpus):
        text = bytearray(self.random.choice(corpus).read_bytes())
        for _ in range(self.random.randint(1, 12)):
            at = self.random.randrange(len(text) + 1)
            piece = bytes(self.random.randrange(256) for _ in range(self.random.randint(0, 4)))
            other = self.random.randrange(len(text) + 1)
            cut = bytes(text[min(at, other):max(at, other)][:80])
            text[at:at + self.random.randint(0, 8)] = self.random.choice([piece, cut, cut * 3, b"{" * 50, b"\xe2\x80\xae"])
        return bytes(text)

    def campaign(self, out, *more, subject=None):
        subject = subject or f"exec:{shlex.quote(PROGRAM)} eval --json --reading shift-count=modulo"
        return ["run", "-q", "--cases", "1000", "--reduce", "0s", "--subject", subject, "--out", out, *more]

    def files(self):
        part = "edited files of campaigns"
        subject = self.work / "wrong.sh"
        subject.write_text('[ "$1" = --describe ] && exit 1\n' + shlex.quote(PROGRAM) + ' eval --json "$1" | sed \'s/\\("bytes": "\\)01/\\102/\'\n')
        subject = f"exec:sh {subject}"
        whole = self.work / "whole"
        self.run(part, self.campaign(whole, "--shard", "1/1", subject=subject), {0, 1}, "the campaign that is edited")
        names = ["state.json", "manifest.json", "report.json", "verdicts.jsonl"]
        for number in range(self.times(500)):
            place = self.work / f"edited-{number}"
            shutil.copytree(whole, place / "in")
            what = self.edit(place / "in" / self.random.choice(names), number)
            before = {path for path in self.work.rglob("*")}
            folder = place / "in"
            commands = [
                ["merge", "-q", folder, "--out", place / "out"],
                ["merge", "-q", "--partial", folder, "--out", place / "out"],
                ["report", folder, "--format", self.random.choice(["text", "json", "junit", "html", "markdown", "sarif"])],
                ["history", place / "history.db", "--add", folder],
                ["run", "-q", "--resume", "--out", folder],
            ]
            self.run(part, commands[number % len(commands)], {0, 1, 2, 3}, f"{commands[number % len(commands)][0]} of {what}")
            new = [path for path in self.work.rglob("*") if path not in before and place not in path.parents]
            if new:
                self.fail(part, what, f"a file elsewhere: {new[0]}")
            shutil.rmtree(place)

    def edit(self, path, number):
        """Edits a file, and says how."""
        if number % 25 == 0:
            path.unlink()
            kind = self.random.choice(["zero", "fifo", "directory"])
            {"zero": lambda: path.symlink_to("/dev/zero"), "fifo": lambda: os.mkfifo(path), "directory": path.mkdir}[kind]()
            return f"{path.name} as {kind}"
        text = path.read_bytes()
        if number % 3 == 0:
            text = bytearray(text)
            for _ in range(self.random.randint(1, 5)):
                at = self.random.randrange(len(text))
                text[at:at + self.random.randint(0, 9)] = bytes(self.random.randrange(256) for _ in range(self.random.randint(0, 5)))
            path.write_bytes(text)
            return f"{path.name} with other bytes"
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        line = self.random.randrange(len(lines))
        value = json.loads(lines[line])
        evil = [
            0, -1, 1, 2**31, 2**53, 2**63, 2**64 - 1, 10**9, 1e308, None, True, [], {}, "", "../../canary", str(self.canary),
            f"exec:touch {self.canary}", f"ptxas:{self.canary}", f"serve:touch {self.canary}", "\u202e\u0000\u001b[2J", "9" * 400, "x" * 100_000,
        ]
        if path.name == "manifest.json":
            # A manifest of one's own is trusted: what it names is run.
            evil = [value for value in evil if "touch" not in str(value)]
        where = value
        for _ in range(self.random.randint(1, 9)):
            inner = where if isinstance(where, (dict, list)) and where else None
            if inner is None:
                break
            key = self.random.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            if isinstance(inner[key], (dict, list)) and inner[key] and self.random.random() < 0.8:
                where = inner[key]
                continue
            if isinstance(inner, dict) and self.random.random() < 0.2:
                del inner[key]
            else:
                inner[key] = self.random.choice(evil)
            break
        lines[line] = json.dumps(value).encode()
        path.write_bytes(b"\n".join(lines) + b"\n")
        return f"{path.name} with another value"

    def subjects(self):
        part = "hostile implementations"
        module = self.work / "module.ptx"
        module.write_text(HEADER + ".global .s32 a = 5;\n.global .u64 p = a;\n")
        good = json.dumps({"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {}})
        behaviours = [
            "kill -SEGV $$", "kill -9 $$", "kill -STOP $$", "sleep 1000", "sleep 1000 & exit 0", "setsid sleep 3 & exit 0", "exit 3", "true",
            "head -c 100000 /dev/urandom", "yes | head -c 50000000", f"echo '{good}'", f"echo '{good}'; echo '{good}'", f"echo '{good[:40]}'",
            "echo '{\"outcome\": \"refused\", \"diagnostics\": [{\"severity\": \"error\", \"message\": \"'$(head -c 3000000 /dev/zero | tr '\\0' x)'\"}]}'",
            "printf '\\033[2J\\342\\200\\256'; exit 1", "yes >&2 & yes; wait", "dd if=/dev/zero of=big bs=1M count=4000 2>/dev/null; rm -f big",
            "echo '{\"outcome\": \"accepted\", \"variables\": {\"a\": {\"size\": 18446744073709551615, \"bytes\": \"zz\"}}}'", "echo 'null'", "trap '' TERM INT; sleep 1000",
        ]
        serve = [
            "while read x; do echo nonsense; done", "while read x; do echo '{\"id\": 77, \"observation\": {\"outcome\": \"refused\"}}'; done", "exit 0", "read x; kill -SEGV $$",
            "yes", "while read x; do head -c 100000000 /dev/zero; done", "sleep 1000", "read x; exit 5", "exec 0<&-; sleep 1000", "while read x; do echo '{\"id\": null}'; done",
        ]
        forms = [("exec", "spawn", behaviour) for behaviour in behaviours] + [("serve", "spawn", behaviour) for behaviour in serve]
        ptxas = self.hostile_ptxas()
        if ptxas:
            forms += [(ptxas, start, str(kind)) for start in ("spawn", "fork") for kind in range(10)]
        for number in range(self.times(300)):
            kind, start, behaviour = forms[number % len(forms)]
            script = self.work / "subject.sh"
            script.write_text('[ "$1" = --describe ] && exit 1\n' + behaviour + "\n")
            subject = f"{kind}:sh {script}" if kind in ("exec", "serve") else f"ptxas:{kind}"
            args = ["check", "--start", start, "--timeout", "1s", "--subject", subject, module]
            allowed = {0, 1, 2, 3} if kind in ("exec", "serve") else {0, 1, 3}
            self.run(part, args, allowed, f"{subject} {start}: {behaviour[:80]}", env={**os.environ, "HOSTILE": behaviour})

    def hostile_ptxas(self):
        """A program that says that it is ptxas, and opens its input, so that it can be forked there."""
        if not shutil.which("cc"):
            self.note("hostile implementations", "not tested as ptxas: there is no cc")
            return None
        source, path = self.work / "ptxas.c", self.work / "ptxas"
        source.write_text(r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **args) {
  for (int i = 1; i < count; i++)
    if (!strcmp(args[i], "--version") || !strcmp(args[i], "-V")) {
      puts("ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.5, V13.5.37");
      return 0;
    } else if (!strcmp(args[i], "--help")) {
      puts("--gpu-name <name>\n  Allowed values:  'sm_75', 'sm_80', 'sm_90'.");
      return 0;
    }
  char text[4096] = "";
  const char *out = 0;
  for (int i = 1; i < count; i++) {
    if (!strcmp(args[i], "-o") && i + 1 < count) { out = args[++i]; continue; }
    FILE *in = args[i][0] == '-' ? 0 : fopen(args[i], "r");
    if (in) { fread(text, 1, sizeof text - 1, in); fclose(in); }
  }
  const char *which = getenv("HOSTILE");
  FILE *made = out ? fopen(out, "w") : 0;
  switch (which ? atoi(which) : 0) {
  case 0: raise(SIGSEGV); break;
  case 1: for (;;) pause();
  case 2: for (;;) { char *p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); }
  case 3: if (made) fputs("no cubin", made); break;
  case 4: if (made) for (long i = 0; i < 1L << 22; i++) fputs("\177ELF0123456789abcdef", made); break;
  case 5: for (;;) puts("error : \033[2J \342\200\256");
  case 6: if (!fork()) for (;;) pause(); break;
  case 7: kill(0, SIGKILL); break;
  case 8: fprintf(stderr, "ptxas fatal : %s\n", text); return 255;
  case 9: for (;;) ;
  }
  return 0;
}
""")
        built = subprocess.run(["cc", "-O1", "-w", "-o", path, source], capture_output=True)
        if built.returncode:
            self.note("hostile implementations", "not tested as ptxas: cc does not build it")
            return None
        return path

    def cubins(self):
        part = "mutated cubins"
        found = subprocess.run([PROGRAM, "toolchain", "path", "13.5"], capture_output=True, text=True)
        if found.returncode:
            self.note(part, "not tested: ptxas 13.5 is not installed")
            return
        ptxas, cubins = found.stdout.strip(), []
        for nth, declarations in enumerate([
            ".global .s32 a[4] = {1, 2, 3, 4};\n.global .u64 p[2] = {a, generic(a)+4};\n.const .f32 c = 1.5;\n",
            ".visible .entry k(.param .u64 o) { .reg .u64 r; ld.param.u64 r, [o]; st.global.u64 [r], r; ret; }\n.global .u8 x = 7;\n",
        ]):
            source = self.work / f"source-{nth}.ptx"
            source.write_text(HEADER + declarations)
            cubin = source.with_suffix(".cubin")
            subprocess.run([ptxas, "-c", "-arch", "sm_80", "-o", cubin, source], check=True, capture_output=True)
            cubins.append((declarations, cubin.read_bytes()))
        folder, programs = self.work / "cubins", self.work / "programs"
        folder.mkdir()
        programs.mkdir()
        fake = self.work / "fake-ptxas"
        fake.write_text(f"""#!/bin/sh
case "$*" in *--version*|*--help*) exec {shlex.quote(ptxas)} "$@";; esac
out= in=
while [ $# -gt 0 ]; do
  case "$1" in -o|--output-file) out=$2; shift;; *.ptx) in=$1;; esac
  shift
done
number=$(sed -n 's/.*cubin_\\([0-9]*\\).*/\\1/p' "$in" | head -1)
[ -n "$number" ] && [ -n "$out" ] && cp {shlex.quote(str(folder))}/"$number" "$out"
exit 0
""")
        fake.chmod(0o755)
        number = self.times(2000)
        for nth in range(number):
            declarations, cubin = self.random.choice(cubins)
            cubin = bytearray(cubin)
            for _ in range(self.random.randint(1, 8)):
                at = self.random.randrange(len(cubin))
                cubin[at:at + self.random.choice([1, 2, 4, 8])] = self.random.choice(
                    [bytes([self.random.randrange(256)]), b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f"])
            if nth % 20 == 0:
                del cubin[self.random.randrange(len(cubin)):]
            (folder / str(nth)).write_bytes(cubin)
            (programs / f"{nth}.ptx").write_text(HEADER + f".global .u8 cubin_{nth};\n" + declarations)
        for first in range(0, number, 250):
            paths = [programs / f"{nth}.ptx" for nth in range(first, min(first + 250, number))]
            self.run(part, ["check", "-q", "--subject", f"ptxas:{fake}", *paths], {0, 1, 3}, f"cubins from {first}")
        self.note(part, f"{number} cubins in groups of 250")

    def stops(self):
        part = "interruptions"
        subject = self.work / "oracle.sh"
        subject.write_text('[ "$1" = --describe ] && exit 1\n' + shlex.quote(PROGRAM) + ' eval --json --reading shift-count=modulo "$1"\n')
        subject = f"exec:sh {subject}"
        whole, killed = self.work / "undisturbed", self.work / "killed"
        began = time.monotonic()
        self.run(part, self.campaign(whole, subject=subject), {0, 1}, "the undisturbed campaign")
        took = time.monotonic() - began
        outcome = lambda out: [(out / "report.json").read_bytes()] + [
            (path.name, path.read_bytes()) for path in sorted((out / "findings").iterdir())]
        for nth in range(self.times(100)):
            which = self.random.choice([*STOPS, signal.SIGKILL])
            out = killed if which == signal.SIGKILL else self.work / "stopped"
            arguments = self.campaign(out, "--resume", subject=subject) if nth % 2 == 0 else ["run", "-q", "--resume", "--out", out]
            if not (out / "manifest.json").exists():
                arguments = self.campaign(out, "--resume", subject=subject)
            allowed = {0, 1, STOPS.get(which, -9)}
            status, said, err = self.run(part, arguments, allowed, f"signal {which.name}", stop=(which, self.random.uniform(0.02, took * 1.1)))
            if status == STOPS.get(which) and "stopped by" not in said + err:
                self.fail(part, which.name, f"it does not say that it was stopped: {said}{err}")
            if status in (0, 1):
                for path in (out,):
                    if outcome(path) != outcome(whole):
                        self.fail(part, which.name, "another report than that of the undisturbed campaign")
                shutil.rmtree(out)
        for out in (killed, self.work / "stopped"):
            self.run(part, self.campaign(out, "--resume", subject=subject), {0, 1}, "gone on with to the end")
            if outcome(out) != outcome(whole):
                self.fail(part, str(out.name), "another report than that of the undisturbed campaign")

    def disks(self):
        part = "full disks"
        whole = self.work / "for-disks"
        self.run(part, self.campaign(whole), {0, 1}, "the campaign")
        for nth in range(self.times(20)):
            blocks = self.random.choice([0, 1, 2, 4, 8, 16, 32, 64])
            out = self.work / f"full-{nth}"
            commands = [
                self.campaign(out), ["merge", "-q", whole, "--out", out], ["report", whole, "--format", "html", "--out", out],
                ["history", out, "--add", whole], ["gen", "--count", "50", "--out", out],
            ]
            command = commands[nth % len(commands)]
            self.run(part, command, {0, 1, 4}, f"{command[0]} with {blocks} blocks", before=f"trap '' XFSZ; ulimit -f {blocks}")
            for path in out.rglob("*.json") if out.is_dir() else []:
                try:
                    json.loads(path.read_text())
                except ValueError:
                    self.fail(part, command[0], f"half of {path.name}")
            for path in out.rglob(".writing-*") if out.is_dir() else []:
                self.fail(part, command[0], f"{path.name} is left")

    def cuda(self):
        part = "hostile CUDA projects"
        names = ["clang", *(f"clang-{version}" for version in range(30, 13, -1))]
        clang = next(filter(None, map(shutil.which, names)), None)
        if not clang:
            self.note(part, "not tested: there is no clang in PATH")
            return
        flags = self.work / "flags"
        flags.write_text(f"x -MD -MF {self.canary}")
        use = "const int v = 1;\n__device__ const int *f() { return &v; }\n"
        for nth in range(self.times(30)):
            place = self.work / f"cuda-{nth}"
            place.mkdir()
            (place / "ok.cu").write_text(use)
            evil = [
                ["-I", f"@{flags}"], ["-include", f"@{flags}"], ["-isystem", f"@{flags}"], [f"@{flags}"], ["-MD", "-MF", str(self.canary)], ["-o", str(self.canary)],
                [f"-fplugin={flags}"], ["-Xclang", "-load", "-Xclang", str(flags)], ["--config", str(flags)], ["-D", "a\0b"], [f"-save-temps={self.canary}"], ["-B", str(place)],
                ["-D", "v=" + "(" * 5000], ["-include", "/dev/zero"], ["-I" + "x" * 100_000],
            ]
            texts = {
                "deep.cu": "const int k=1;\n__device__ int f() { return " + "+".join(["k"] * 1500) + "; }\n",
                "ifs.cu": "const int k=1;\n__device__ void f(int*p,int x) {" + " else ".join(f"if (x=={i}) *p=k;" for i in range(400)) + "}\n",
                "braces.cu": "__device__ void f() {" + "{" * 3000, f"@flags.cu": use, "-x.cu": use, "zero.cu": '#include "/dev/zero"\n',
                "self.cu": '#include "self.cu"\n', "macros.cu": "#define A(x) x x x x\n" + "int a = " + "A(" * 25 + "+1" + ")" * 25 + ";\n", "empty.cu": "",
                "line.cu": f'#line 1 "{self.canary}"\n' + use, "odd\u202e\x1b.cu": use,
            }
            if nth % 2 == 0:
                entry = {"directory": ".", "file": "ok.cu", "arguments": ["nvcc", *evil[nth // 2 % len(evil)], "ok.cu"]}
                if nth % 10 == 8:
                    entry = {"directory": ".", "file": "ok.cu", "command": "nvcc 'ok.cu"}
                (place / "compile_commands.json").write_text(json.dumps([entry]))
                args, what = ["--compile-commands", "."], f"{entry}"[:200]
            else:
                name = list(texts)[nth // 2 % len(texts)]
                (place / name).write_text(texts[name])
                args, what = ["./" + name if name.startswith("-") else name, "ok.cu"], name
            self.run(part, ["cuda", "check", "--clang", clang, "--timeout", "20s", *args], {0, 1, 2}, what, cwd=place)


PARTS = ["ptx", "files", "subjects", "cubins", "stops", "disks", "cuda"]
# A machine that does much else takes longer than the two seconds that are promised.
SECONDS_TO_STOP = 5
PROGRAM = None


def main():
    global PROGRAM
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} [default: all]")
    parser.add_argument("--share", type=float, default=1.0, help="this share of each part [default: 1]")
    parser.add_argument("--seed", type=int, default=1, help="chooses what is done")
    args = parser.parse_args()
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part `{unknown.pop()}`; there are {', '.join(PARTS)}")
    PROGRAM = program()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="ptxsmith-attack-") as work:
        attack = Attack(args.share, args.seed, pathlib.Path(work))
        for part in args.parts or PARTS:
            began = time.monotonic()
            getattr(attack, part)()
            print(f"{part}: {time.monotonic() - began:.0f} s", flush=True)
        for part, counts in attack.counts.items():
            by_status = ", ".join(f"{count} with status {status}" for status, count in sorted(counts.items()))
            print(f"{part}: {sum(counts.values())} runs: {by_status}")
    for note in attack.notes:
        print(note)
    for bad in attack.bad[:50]:
        print(f"MUST NOT HAPPEN: {bad}")
    print(f"{sum(sum(counts.values()) for counts in attack.counts.values())} runs, {len(attack.bad)} bad")
    return 1 if attack.bad else 0


if __name__ == "__main__":
    sys.exit(main())
