"""What a ptxas does with a program, with nothing but Python: it is asked, and its cubin, an ELF file, is read.

The answers are in the shape of module.schema.json.
"""
import pathlib, re, struct, subprocess, tempfile

WORDS = {1: (4, None), 2: (8, None), 4: (8, "generic"), 35: (8, "code"), 102: (8, "code")}  # relocation: width, whose
LANES = {76: None, 84: "generic", 92: "code", 104: "code"}  # the first of eight that write one byte each
OBJECTS = (1, 13)  # kinds of symbols: data, and CUDA's own kind of it
WITHOUT_BYTES = (8, 0x70000007, 0x7000000A)  # kinds of sections that are zero
COMMON = 0xFFF2  # the section of what is zero, and placed by the linker


def table(data, at, count, size, form):
    return [struct.unpack_from("<" + form, data, at + i * size) for i in range(count)]


def space_of(section):
    if section.startswith((".nv.shared", ".nv_debug.shared")):
        return "shared"
    return {".nv.constant3": "const", ".nv.global": "global", ".nv.global.init": "global", ".nv.udt": "global"}.get(section)


def variables_of(data):
    """The variables of a cubin."""
    shoff, shsize, shnum, shstr = struct.unpack_from("<Q", data, 40) + struct.unpack_from("<HHH", data, 58)
    sections = table(data, shoff, shnum, shsize, "IIQQQQIIQQ")  # name type flags addr offset size link info align entry
    text = lambda section, at: data[sections[section][4] + at:data.index(b"\0", sections[section][4] + at)].decode()
    names = [text(shstr, section[0]) for section in sections]
    symtab = next(section for section in sections if section[1] == 2)
    symbols = table(data, symtab[4], symtab[5] // 24, 24, "IBBHQQ")  # name info other section value size
    variables, placed = {}, []
    for name, info, other, home, value, size in symbols:
        name, align = text(symtab[6], name), value  # of a common one the symbol tells the alignment
        space = "global" if home == COMMON else space_of(names[home]) if 0 < home < len(names) else None
        if info & 15 not in OBJECTS or space is None or name.startswith(".nv."):
            continue
        content = bytes(size)
        if home != COMMON:
            _, kind, _, address, offset, _, _, _, limit, _ = sections[home]
            start = value - address
            align = min(limit, start & -start) if start else limit
            if kind not in WITHOUT_BYTES:
                content = data[offset + start:offset + start + size]
            placed.append((home, start, size, name))
        variables[name] = {"space": space, "size": size, "align": align, "addresses": [],
                           "bytes": None if space == "shared" else content.hex()}
    for _, kind, _, _, offset, size, _, target, _, _ in sections:
        if kind not in (4, 9):  # with addend, without
            continue
        entry, form = (24, "QQq") if kind == 4 else (16, "QQ")
        for at, info, *addend in table(data, offset, size // entry, entry, form):
            kind, symbol = info & 0xFFFFFFFF, symbols[info >> 32]
            for home, start, size, name in placed:
                if home == target and start <= at < start + size:
                    first = kind - (kind - 76) % 8 if kind < 100 else 104
                    width, of = WORDS[kind] if kind in WORDS else (1, LANES[first])
                    whose = names[symbol[3]] if 0 < symbol[3] < len(names) else ""
                    constant = whose == ".nv.constant3" or not whose and symbol[2] & 0xE0 == 0x80
                    generic = None if of == "code" or symbol[1] & 15 == 2 else of == "generic"
                    generic = None if generic and not constant else generic  # `g` and `generic(g)` look alike
                    variables[name]["addresses"].append({
                        "offset": at - start, "width": width, "symbol": text(symtab[6], symbol[0]),
                        "addend": addend[0] if addend else 0, "generic": generic,
                        "byte": None if kind in WORDS else kind - first})
    for variable in variables.values():
        variable["addresses"].sort(key=lambda address: address["offset"])
    return variables


def targets_of(ptxas):
    """What a ptxas can assemble for."""
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout
    return set(re.findall(r"'(sm_\w+)'", text.partition("--gpu-name")[2].partition("\n--")[0]))


def ask(ptxas, targets, folder, case, timeout):
    """What a ptxas does with one case, a program below `folder`."""
    number = lambda target: int(target[3:]) if target[3:].isdigit() else 0
    target = case["target"]
    if target not in targets:  # a program for one target runs on the later ones
        target = min((t for t in targets if number(t) > number(target) > 0), key=number, default=target)
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch, "out.cubin")
        command = [ptxas, f"-arch={target}", str(folder / case["file"]), "-o", str(out)]
        try:
            run = subprocess.run(command + ["--compile-only"] * case["relocatable"], cwd=scratch, timeout=timeout,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return {"outcome": "timed-out"}
        said = run.stderr + run.stdout
        if run.returncode == 0 and out.exists():
            return {"outcome": "accepted", "variables": variables_of(out.read_bytes())}
    errors = re.findall(r"^ptxas .*?(?:fatal|error) *: (.*)", said, re.M)
    crash = run.returncode <= 0 or run.returncode - 128 in (4, 5, 6, 7, 8, 9, 11, 24, 25) or not errors
    if crash or re.search("Memory allocation failure|bad_alloc|Internal (compiler )?error", said):
        return {"outcome": "crashed"}
    lacks = r"Unsupported .version|SM version specified by .target is higher|Value '.*' is not defined for option 'gpu" \
            r"|'Compile only\(-c\)' requires"
    if target != case["target"]:
        lacks += rf"|PTX .version \S+ does not support .target {target}"
    return {"outcome": "unsupported" if any(re.match(lacks, e) for e in errors) else "refused"}
