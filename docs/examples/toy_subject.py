"""A toy implementation of PTX data as a subject of ptxsmith: constant expressions, arrays, vectors, addresses of variables.

    ptxsmith check module.ptx --subject 'exec:python3 docs/examples/toy_subject.py'
    ptxsmith check module.ptx --subject 'serve:python3 docs/examples/toy_subject.py'

With a file it answers for that file (exec:), without one it answers a line for each line (serve:). What it lacks it
says to be unsupported, which is counted apart; it never guesses.
"""

import json
import math
import re
import struct
import sys

SIZES = {kind + str(8 * size): size for kind in "usb" for size in (1, 2, 4, 8)} | {"f32": 4, "f64": 8}
TOKEN = re.compile(
    r"\s*(?:(?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
    r"|(?P<int>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(?P<unsigned>U?)(?![\w.])"
    r"|(?P<name>[A-Za-z][\w$]*|[_$%][\w$]+)|(?P<word>\.\w+)"
    r"|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~?:()\[\]{},=;]))")
LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"],
          ["*", "/", "%"]]
MASK = (1 << 64) - 1


class Unsupported(Exception):
    """The text is beyond a toy."""


class Refused(Exception):
    """The text breaks a rule."""


class Int:
    """A 64-bit value with or without a sign."""

    def __init__(self, value, signed):
        value &= MASK
        self.value, self.signed = value - (1 << 64) if signed and value >> 63 else value, signed


class Address:
    """The address of a variable, some bytes behind it."""

    def __init__(self, symbol, addend, generic):
        self.symbol, self.addend, self.generic = symbol, addend, generic


def tokens_of(text):
    """The tokens of a text, as pairs of kind and text."""
    tokens, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise Unsupported(f"{text[at:at + 20]!r}")
        kind = match.lastgroup if match.lastgroup != "unsigned" else "int"
        tokens.append((kind, match[0].strip()))
        at = match.end()
    return tokens


class Reader:
    """Reads the declarations of a module."""

    def __init__(self, text):
        self.tokens, self.at, self.variables, self.names = tokens_of(text), 0, {}, set()

    def peek(self, *signs):
        return self.at < len(self.tokens) and self.tokens[self.at][1] in signs

    def take(self, *signs):
        """The next token, if it is one of these (or any, where none is given)."""
        if self.at == len(self.tokens):
            raise Refused("the text ends in a statement")
        if signs and not self.peek(*signs):
            return None
        self.at += 1
        return self.tokens[self.at - 1][1]

    def need(self, sign):
        if not self.take(sign):
            raise Refused(f"expected {sign}")

    # Expressions (4.5)

    def expression(self):
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        one = self.expression()
        self.need(":")
        other = self.expression()
        if not all(isinstance(value, Int) for value in (condition, one, other)):
            raise Unsupported("?: of anything but integers")
        signed = one.signed and other.signed
        return Int((one if condition.value else other).value, signed)

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while operator := self.take(*LEVELS[level]) if self.peek(*LEVELS[level]) else None:
            left = apply(operator, left, self.binary(level + 1))
        return left

    def unary(self):
        if operator := self.take("+", "-", "!", "~") if self.peek("+", "-", "!", "~") else None:
            value = self.unary()
            if isinstance(value, float) and operator in "+-" and not math.isnan(value):
                return -value if operator == "-" else value
            if not isinstance(value, Int):
                raise Unsupported(f"{operator} of no integer")
            return {"+": lambda: value, "-": lambda: Int(-value.value, value.signed),
                    "!": lambda: Int(not value.value, True), "~": lambda: Int(~value.value, False)}[operator]()
        if self.peek("(") and self.tokens[self.at + 1][1] in (".s64", ".u64"):
            self.take()
            signed = self.take() == ".s64"
            self.need(")")
            value = self.unary()
            if not isinstance(value, Int):
                raise Refused("a cast of no integer")
            return Int(value.value, signed)
        return self.primary()

    def primary(self):
        if self.take("("):
            value = self.expression()
            self.need(")")
            return value
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        self.at += 1
        if kind == "int":
            if self.peek("("):
                raise Unsupported("mask()")
            digits = text.rstrip("U").lower()
            base = {"0x": 16, "0b": 2}.get(digits[:2], 8 if digits.startswith("0") and digits != "0" else 10)
            try:
                value = int(digits, base) if base in (2, 8, 16) else int(digits)
            except ValueError:
                raise Refused(f"the number {text}") from None
            if value > MASK:
                raise Unsupported("a number of more than 64 bits")
            return Int(value, value < 1 << 63 and not text.endswith("U"))
        if kind == "float":
            if text[:2].lower() in ("0f", "0d"):
                form = ">f" if text[1] in "fF" else ">d"
                value = struct.unpack(form, bytes.fromhex(text[2:]))[0]
                if math.isnan(value):
                    raise Unsupported("a NaN")
                return value
            return float(text)
        if text == "WARP_SZ":
            return Int(32, True)
        if kind == "name":
            generic = text == "generic" and bool(self.take("("))
            symbol = self.take() if generic else text
            if generic:
                self.need(")")
            if symbol not in self.names:
                raise Unsupported(f"the name {symbol}")
            return Address(symbol, 0, generic)
        raise Refused(f"{text!r} is no value")

    # Declarations (5.4)

    def module(self):
        while self.at < len(self.tokens):
            if not self.take(";"):
                self.declaration()

    def declaration(self):
        space, kind, lanes, extern = None, None, 1, False
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "word":
            word = self.take()[1:]
            if word in ("visible", "weak"):
                continue
            if word == "extern":
                extern = True
            elif word == "attribute":
                while not self.take(")"):
                    self.take()
            elif word in ("global", "const", "shared"):
                space = word
            elif word == "align":
                self.primary()
            elif word in ("v2", "v4"):
                lanes = int(word[1:])
            elif word in SIZES:
                kind = word
            else:
                raise Unsupported(f"the word .{word}")
        if not space or not kind:
            raise Refused("a declaration without space or type")
        while True:
            self.declarator("extern" if extern else space, kind, lanes)
            if not self.take(","):
                break
        self.need(";")

    def declarator(self, space, kind, lanes):
        name, shape = self.take(), []
        if name in self.names or self.peek("<"):
            raise Unsupported("a name twice, or a number of names")
        while self.take("["):
            shape.append(None if self.peek("]") else self.expression())
            self.need("]")
        if any(not isinstance(count, (Int, type(None))) or count and count.value <= 0 for count in shape):
            raise Unsupported("a dimension")
        shape = [count and count.value for count in shape]
        value = self.value() if self.take("=") else None
        self.names.add(name)
        if space not in ("global", "const"):  # it has no storage here, or none that is initialized
            if value is not None:
                raise Refused(f"{name} cannot be initialized")
            return
        if None in shape[1:] or shape[:1] == [None] and not isinstance(value, list):
            raise Unsupported("a dimension that is left out")
        if shape[:1] == [None]:
            shape[0] = len(value) or 1
        if lanes > 1:
            shape.append(lanes)
        if isinstance(value, list) and not shape or value is not None and shape and not isinstance(value, list):
            raise Unsupported("a list for a scalar, or a value for an array")
        size = SIZES[kind] * math.prod(shape)
        contents, addresses = bytearray(size), []
        fill(contents, addresses, 0, shape, value, kind)
        self.variables[name] = {"space": space, "size": size, "align": None, "bytes": contents.hex(), "addresses": addresses}

    def value(self):
        if not self.take("{"):
            return self.expression()
        values = []
        while not self.take("}"):
            values.append(self.value())
            if not self.peek("}"):
                self.need(",")
                if self.peek("}"):
                    raise Unsupported("a comma before a brace")
        return values


def apply(operator, left, right):
    """The value of a binary operator."""
    if isinstance(left, Address) or isinstance(right, Address):
        if operator == "+" and isinstance(left, Address) and isinstance(right, Int):
            return Address(left.symbol, left.addend + Int(right.value, True).value, left.generic)
        raise Unsupported("arithmetic of addresses")
    if isinstance(left, float) and isinstance(right, float):
        if operator not in ("+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=") or operator == "/" and not right:
            raise Unsupported(f"{operator} of floats")
        result = {"+": left + right, "-": left - right, "*": left * right,
                  "/": left / (right or 1), "<": left < right, "<=": left <= right,
                  ">": left > right, ">=": left >= right, "==": left == right, "!=": left != right}[operator]
        if isinstance(result, float) and not math.isfinite(result):
            raise Unsupported("a float that is not finite")
        return Int(result, True) if isinstance(result, bool) else result
    if isinstance(left, float) or isinstance(right, float):
        raise Unsupported(f"{operator} of a float and an integer")
    signed = left.signed and right.signed
    a, b = Int(left.value, signed).value, Int(right.value, signed).value
    ordered = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b,
               "&&": bool(a and b), "||": bool(a or b)}
    if operator in ordered:
        return Int(ordered[operator], True)
    if operator in ("<<", ">>"):
        count = min(right.value & MASK, 64)
        return Int(left.value << count if operator == "<<" else left.value >> count, left.signed)
    if operator in "/%" and (b & MASK) == 0:
        raise Unsupported("a division by zero")
    if operator == "%":
        return Int((a & MASK) % (b & MASK), True)
    if operator == "/":
        if (a, b) == (-(1 << 63), -1):
            raise Unsupported("a quotient that is too large")
        return Int(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), signed)
    return Int({"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[operator], signed)


def fill(contents, addresses, at, shape, value, kind):
    """Puts a value of this shape into the bytes behind a place."""
    if value is None:
        return
    if shape:
        if not isinstance(value, list):
            raise Unsupported("a value for a row")
        if len(value) > shape[0]:
            raise Refused("more values than elements")
        size = SIZES[kind] * math.prod(shape[1:])
        for nth, inner in enumerate(value):
            fill(contents, addresses, at + nth * size, shape[1:], inner, kind)
        return
    size = SIZES[kind]
    if isinstance(value, list):
        raise Refused("a list for an element")
    if isinstance(value, Address):
        if kind not in ("u64", "b64", "s64"):
            raise Unsupported("an address in another type")
        addresses.append({"offset": at, "width": size, "symbol": value.symbol, "addend": value.addend,
                          "generic": value.generic, "byte": None})
        return
    if isinstance(value, float) != (kind[0] == "f"):
        raise Unsupported("a value of another kind")
    try:
        stored = struct.pack("<f" if size == 4 else "<d", value) if kind[0] == "f" else value.value.to_bytes(
            16, "little", signed=True)[:size]
    except OverflowError:
        raise Unsupported("a float that is too large") from None
    contents[at:at + size] = stored


def observe(ptx):
    """The observation of one module."""
    answer = {"schema": "ptxsmith.module/1", "outcome": "accepted", "diagnostics": [], "variables": {}}
    ptx = re.sub(r"/\*.*?\*/|//[^\n]*", " ", ptx, flags=re.DOTALL)
    ptx = re.sub(r"\.(version|address_size)\s+[\d.]+|\.target\s+\w+", " ", ptx)
    try:
        reader = Reader(ptx)
        reader.module()
    except (Unsupported, RecursionError) as lacks:
        return answer | {"outcome": "unsupported", "reason": str(lacks)}
    except Refused as error:
        message = {"severity": "error", "line": None, "message": str(error)}
        return answer | {"outcome": "refused", "diagnostics": [message]}
    return answer | {"variables": reader.variables}


def main():
    """Describes itself, answers for a file, or serves."""
    if "--describe" in sys.argv:
        print(json.dumps({
            "schema": "ptxsmith.subject/1", "name": "toy", "version": "2", "lineage": "toy",
            "max_ptx": "7.8", "targets": ["sm_80"], "relocations": True,
        }))
    elif len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            print(json.dumps(observe(file.read())))
    else:
        for line in sys.stdin:
            question = json.loads(line)
            print(json.dumps({"id": question["id"], "observation": observe(question["ptx"])}), flush=True)


main()
