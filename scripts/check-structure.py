"""Circles of paths between the files of a package, files above a number of lines, and functions above a cyclomatic complexity;
see check-structure."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
import rust_source

try:
    import lizard
except ImportError:  # the caller says so
    lizard = None

COMPLEXITY = 40
LINES = 600

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(rf"(?<![\w:$])(?:crate|self|super)(?:\s*::\s*{_NAME})+")
_ITEM = re.compile(rf"\b(?:struct|enum|union|trait|fn|type|const|static|mod|macro_rules!)\s+(?:mut\s+)?({_NAME})")


def _leaves(tree, prefix=()):
    """The paths of a tree of `use`, each with the name that it gives them."""
    tree = tree.strip()
    if not tree.endswith("}"):
        path, _, alias = tree.partition(" as ")
        segments = (*prefix, *(segment.strip() for segment in path.split("::") if segment.strip()))
        if segments[-1] == "self" and len(segments) > 1:
            segments = segments[:-1]
        yield segments, alias.strip() or segments[-1]
        return
    head, _, body = tree[:-1].partition("{")
    prefix = (*prefix, *(segment.strip() for segment in head.split("::") if segment.strip()))
    depth, start = 0, 0
    for at, character in enumerate(body + ","):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if body[start:at].strip():
                yield from _leaves(body[start:at], prefix)
            start = at + 1


class Module:
    """A file as a module of its crate: what it declares, what it imports, all paths that it writes."""

    def __init__(self, path, text):
        self.path = path
        code = rust_source.code(text)
        self.items = set(_ITEM.findall(code))
        self.imports, self.globs, self.paths = {}, [], []
        for tree in _USE.findall(code):
            for segments, name in _leaves(tree):
                self.paths.append(segments)
                if name == "*":
                    self.globs.append(segments[:-1])
                elif name != segments[0]:  # `use memchr::memchr` is of another crate
                    self.imports[name] = segments
        for path_ in _PATH.findall(_USE.sub("", code)):
            self.paths.append(tuple(re.split(r"\s*::\s*", path_)))


class Crate:
    """The modules of one crate by their names in it; the empty tuple is its root."""

    def __init__(self, modules):
        self.modules = modules

    def file_of(self, name, segments, seen=frozenset()):
        """The module that holds what a path means where it is written in the module of this name: re-exports are
        followed. Nothing for a path out of the crate."""
        first, rest = segments[0], segments[1:]
        if first == "crate":
            return self._within((), rest, seen)
        if first == "self":
            return self._within(name, rest, seen)
        if first == "super":
            return self.file_of(name[:-1], ("self", *rest) if rest[:1] != ("super",) else rest, seen)
        if (*name, first) in self.modules or first in self.modules[name].items or first in self.modules[name].imports:
            return self._within(name, segments, seen)
        return None

    def _within(self, name, segments, seen):
        if (name, segments) in seen:
            return None
        seen = seen | {(name, segments)}
        if not segments or segments[0] == "*":
            return name
        module, first, rest = self.modules[name], segments[0], segments[1:]
        if (*name, first) in self.modules:
            return self._within((*name, first), rest, seen)
        if first in module.imports:
            return self.file_of(name, (*module.imports[first], *rest), seen)
        if first in module.items:
            return name
        for glob in module.globs:
            source = self.file_of(name, (*glob, first), seen)
            if source is not None and first in self.modules[source].items:
                return source
        return name

    def edges(self):
        """Which file uses which, parents and their children aside."""
        found = {name: set() for name in self.modules}
        for name, module in self.modules.items():
            for segments in module.paths:
                other = self.file_of(name, segments)
                if other is None or other == name[: len(other)] or name == other[: len(name)]:
                    continue
                found[name].add(other)
        return found


def crates(package, files):
    """The library and the programs of a package, each with its modules."""
    modules = {}
    for path, text in files.items():
        within = path.removeprefix(package + "/src/").removesuffix(".rs").split("/")
        if path.startswith(package + "/src/") and within[-1] != "main":
            name = tuple(within[:-1] if within[-1] in ("mod", "lib") else within)
            modules[name] = Module(path, text)
        elif within[-1] == "main" and package + "/src/lib.rs" not in files:
            modules[()] = Module(path, text)
    return [Crate(modules)] if () in modules else []


def circles(edges):
    """The strongly connected components of more than one file (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(edges[node]):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return found


def long_files(files):
    for path, text in files.items():
        lines = len(text.splitlines())
        if lines > LINES:
            yield f"{path} has {lines} lines; split what is above {LINES} by subject"


def complex_functions(files):
    for path, text in files.items():
        for function in lizard.analyze_file.analyze_source_code(path, text).function_list:
            if function.cyclomatic_complexity > COMPLEXITY:
                yield f"{path}:{function.start_line}: {function.name} has complexity {function.cyclomatic_complexity}"


def check_itself():
    """A check that passes everything would be none: a circle through a re-export, a file that is too long, and what is neither."""
    written = {
        (): "mod a; mod b; mod c; pub use a::A;",
        ("a",): "use super::b::B; pub struct A; // crate::c::C",
        ("b",): "pub struct B; fn b() -> crate::A {}",
        ("c",): "pub struct C; #[cfg(test)] mod tests { use crate::a::A; } use crate::a::{A as D};",
    }
    crate = Crate({name: Module("/".join(name), text) for name, text in written.items()})
    assert crate.edges() == {(): set(), ("a",): {("b",)}, ("b",): {("a",)}, ("c",): {("a",)}}
    assert circles(crate.edges()) == [[("a",), ("b",)]]
    assert len(list(long_files({"long.rs": "//\n" * (LINES + 1), "short.rs": "//\n" * LINES}))) == 1


def main():
    check_itself()
    failures = 0
    for package, files in rust_source.sources().items():
        for crate in crates(package, files):
            edges = crate.edges()
            for circle in circles(edges):
                failures += 1
                print(f"{package}: a circle of {len(circle)} files")
                for name in circle:
                    used = sorted(crate.modules[other].path for other in edges[name] if other in circle)
                    print(f"    {crate.modules[name].path} uses {', '.join(used)}")
        for refused in [*long_files(files), *(complex_functions(files) if lizard else ())]:
            failures += 1
            print(f"{package}: {refused}")
    return min(failures, 1)


sys.exit(main())
