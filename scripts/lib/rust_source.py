"""Rust sources by package, read only as far as counting lines and finding paths needs it: without comments, without the
contents of literals, without tests."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What is no code: comments (nested ones too), literals. A quote that no literal follows begins a lifetime.
_OPENINGS = re.compile(r"""//|/\*|\b(?:b|c)?r(?P<hashes>\#*)"|"|'(?:\\(?:[^u]|u\{[^}]*\})[^']*|[^\\'])'""")
_TEST_ONLY = re.compile(r"#\[cfg\(test\)\]\s*")
_NOT_COUNTED = re.compile(r"(^|/)(tests|benches|examples)/|(^|/)tests\.rs$")


def _git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True).stdout


def packages(paths):
    """The folders with a Cargo.toml among the paths, the innermost first."""
    folders = [path.removesuffix("Cargo.toml").rstrip("/") for path in paths if path.split("/")[-1] == "Cargo.toml"]
    return sorted(filter(None, folders), key=len, reverse=True)


def sources(commit=None):
    """Of each package the Rust files that are neither tests nor examples, as a map of maps from path to text: those of a commit, or of the
    working tree (what git ignores aside)."""
    listed = ["ls-tree", "-r", "-z", "--name-only", commit] if commit else ["ls-files", "-z", "-co", "--exclude-standard"]
    paths = [path for path in _git(*listed).decode().split("\0") if path]
    if not commit:
        paths = [path for path in paths if (ROOT / path).exists()]
    folders = packages(paths)
    found = {folder: {} for folder in sorted(folders)}
    for path in sorted(paths):
        package = next((folder for folder in folders if path.startswith(folder + "/")), None)
        if package and path.endswith(".rs") and not _NOT_COUNTED.search(path):
            text = _git("show", f"{commit}:{path}").decode() if commit else (ROOT / path).read_text()
            found[package][path] = text
    return found


def _end_of_comment(text, at):
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[at:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return at + mark.end()
    return len(text)


def _end_of_string(text, start, hashes):
    if hashes is not None:
        end = text.find('"' + hashes, start)
        return len(text) if end < 0 else end
    while start < len(text) and text[start] != '"':
        start += 2 if text[start] == "\\" else 1
    return start


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with blanks for comments and `x` for what literals hold; lines stay where they are."""
    kept, at = [], 0
    while opening := _OPENINGS.search(text, at):
        kept.append(text[at : opening.start()])
        word = opening.group()
        if word[0] == "/":
            at = _end_of_comment(text, opening.start())
            kept.append(_blank(text[opening.start() : at]))
        elif word[0] == "'":
            kept.append("'x'" + " " * (len(word) - 3))
            at = opening.end()
        else:
            at = _end_of_string(text, opening.end(), opening.group("hashes"))
            kept.append(word + re.sub(r"[^\n]", "x", text[opening.end() : at]))
            # The closing quote begins no other literal.
            kept.append(text[at : at + 1])
            at += 1
    return "".join(kept) + text[at:]


def without_tests(text):
    """The text (already without comments) with blanks for each item under `#[cfg(test)]`."""
    while test := _TEST_ONLY.search(text):
        depth, end = 0, len(text)
        for mark in re.finditer(r"[{}\[\]();]", text[test.end() :]):
            depth += {"{": 1, "[": 1, "(": 1, ";": 0}.get(mark.group(), -1)
            if depth == 0 and mark.group() in "};":
                end = test.end() + mark.end()
                break
        text = text[: test.start()] + _blank(text[test.start() : end]) + text[end:]
    return text


def code(text):
    """The code of a file: no comment, no test, no content of a literal."""
    return without_tests(without_comments(text))
