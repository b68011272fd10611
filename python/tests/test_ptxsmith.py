"""Run by scripts/wheel, in a fresh virtual environment that has nothing but the wheel."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import ptxsmith

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"
ROWS = HEAD + ".global .s32 x[2][2] = {{1}, {3}};\n"


class Wheel(unittest.TestCase):
    def test_a_variable_is_its_bytes_and_addresses(self):
        held = ptxsmith.hold(HEAD + ".global .u32 g;\n.global .u64 p[2] = {7, generic(g) + 4};\n", "p")
        self.assertEqual(held.bytes, bytes([7] + [0] * 15))
        self.assertEqual(held.addresses, [ptxsmith.Address(8, 8, "g", 4, True, None)])

    def test_what_has_no_answer_says_why(self):
        with self.assertRaisesRegex(ptxsmith.NoAnswer, "line 4: "):
            ptxsmith.hold(HEAD + ".global .s32 x = 1.0;\n", "x")
        with self.assertRaisesRegex(ptxsmith.NoAnswer, "no variable y"):
            ptxsmith.hold(ROWS, "y")
        with self.assertRaisesRegex(ptxsmith.Error, "no PTX module"):
            ptxsmith.eval("")
        with self.assertRaisesRegex(ptxsmith.Error, "pathlib.Path"):
            ptxsmith.eval("table.ptx")

    def test_a_variable_may_be_too_large_to_show(self):
        self.assertIsNone(ptxsmith.hold(HEAD + ".global .u8 x[1000000000];\n", "x").bytes)

    def test_another_reading_gives_another_value(self):
        ptx = HEAD + ".global .u64 x = 1 << 65;\n"
        modulo = ptxsmith.hold(ptx, "x", readings={"shift-count": "modulo"})
        self.assertNotEqual(ptxsmith.hold(ptx, "x").bytes, modulo.bytes)

    def test_expect_raises_where_the_answer_is_another(self):
        ptxsmith.expect(ROWS, "accepted")
        with self.assertRaises(ptxsmith.Unexpected):
            ptxsmith.expect(ROWS, "refused")

    def test_lint_warns_with_a_work_around(self):
        [warning] = ptxsmith.lint(ROWS)
        self.assertEqual((warning.id, warning.line), ("incomplete-rows-packed", 4))
        self.assertIn("Write every row in full", warning.work_around)
        self.assertEqual(ptxsmith.lint(HEAD + ".global .s32 x[2] = {1, 2};\n"), [])

    def test_a_file_is_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.ptx")
            path.write_text(ROWS)
            self.assertEqual(ptxsmith.eval(path).outcome, "accepted")

    def test_check_compares_with_an_implementation(self):
        with tempfile.TemporaryDirectory() as folder:
            # An implementation that says of all that it holds what the specification says, but for one bit.
            subject = pathlib.Path(folder, "subject.py")
            subject.write_text(
                "import json, pathlib, sys, ptxsmith\n"
                "if '--describe' in sys.argv: sys.exit(1)\n"
                "raw = ptxsmith.eval(pathlib.Path(sys.argv[1])).raw\n"
                "raw['variables']['x']['bytes'] = 'ff' + raw['variables']['x']['bytes'][2:]\n"
                "print(json.dumps(raw))\n")
            command = f"exec:{sys.executable} {subject}"
            report = ptxsmith.check(HEAD + ".global .s32 x = 1;\n", command)
            self.assertEqual((report.compared, [found.kind for found in report.new]), (1, ["wrong-value"]))

    def test_what_cannot_be_asked_is_an_error_of_the_module(self):
        with self.assertRaisesRegex(ptxsmith.Error, "as str"):
            ptxsmith.eval(ROWS.encode())
        with unittest.mock.patch.dict(os.environ, PTXSMITH="/nowhere/ptxsmith"):
            with self.assertRaisesRegex(ptxsmith.Error, "/nowhere/ptxsmith cannot be started"):
                ptxsmith.eval(ROWS)

    def test_the_program_is_in_the_wheel(self):
        said = subprocess.run([ptxsmith.program(), "--version"], capture_output=True, text=True, check=True)
        self.assertTrue(said.stdout.startswith("ptxsmith "))
        self.assertEqual(ptxsmith.run(["eval", "-"], input="").returncode, 2)
        json.loads(ptxsmith.run(["subjects", "--json"]).stdout)


if __name__ == "__main__":
    unittest.main()
