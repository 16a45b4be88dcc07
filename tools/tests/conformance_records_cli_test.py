#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hbf conformance diff, statement, package, verify: on recorded runs, whole and tampered with.

  conformance_records_cli_test.py HBF WRITE_SAMPLES"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

hbf, writer = sys.argv[1:3]


class Records(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        subprocess.run([writer, self.root], check=True)

    def run_hbf(self, *arguments, expect):
        done = subprocess.run([hbf, "conformance", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def package(self, name, run="good.json", statement=True):
        statement_file = self.root / "statement.toml"
        text = self.run_hbf("statement", self.root / run, expect=0).stdout
        for key in ("company", "product", "contact"):
            self.assertIn(f'{key} = ""', text)
            text = text.replace(f'{key} = ""', f'{key} = "Acme"') if statement else text
        statement_file.write_text(text)
        self.run_hbf("package", self.root / run, "--statement", statement_file, "-o", self.root / name, expect=0)
        return self.root / name

    def test_diff_tells_same_from_worse(self):
        good, bad = self.root / "good.json", self.root / "bad.json"
        self.assertIn("NOTHING WORSE", self.run_hbf("diff", good, good, expect=0).stdout)
        worse = self.run_hbf("diff", good, bad, "--json", expect=1)
        self.assertTrue(json.loads(worse.stdout)["worse"])
        other = json.loads(good.read_text())
        other["cases"] = []
        (self.root / "none.json").write_text(json.dumps(other))
        self.assertIn("NOT COMPARABLE", self.run_hbf("diff", good, self.root / "none.json", expect=3).stdout)

    def test_diff_names_what_cannot_be_read(self):
        for content in (None, "", "{", "[]", '{"schema_version": 99}', '{"schema_version": 1, "cases": 3}'):
            path = self.root / "odd.json"
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_text(content)
            self.assertIn("odd.json", self.run_hbf("diff", path, self.root / "good.json", expect=3).stderr)

    def test_a_run_of_part_of_the_profile_is_refused_for_that_alone(self):
        done = self.run_hbf("verify", self.package("p.tar.gz"), expect=1)
        bad = [line for line in done.stdout.splitlines() if line.strip().startswith("bad")]
        self.assertTrue(bad)
        self.assertTrue(all("not run" in line for line in bad), bad)

    def test_an_edit_and_a_gap_are_named(self):
        package = self.package("p.tar.gz", statement=False)
        self.assertIn("does not say: company, product, contact", self.run_hbf("verify", package, expect=1).stdout)
        unpacked = self.root / "unpacked"
        with tarfile.open(package) as archive:
            archive.extractall(unpacked, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(unpacked)
        folder = next(unpacked.iterdir())
        report = folder / "report.html"
        report.write_text(report.read_text().replace("CONFORMANT", "SPLENDID"))
        with tarfile.open(self.root / "edited.tar.gz", "w:gz") as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.add(file, f"{folder.name}/{file.relative_to(folder)}", recursive=False)
        self.assertIn("report.html was changed", self.run_hbf("verify", self.root / "edited.tar.gz", expect=1).stdout)

    def test_damaged_packages_are_unreadable_or_refused(self):
        whole = self.package("p.tar.gz").read_bytes()
        for keep in (0, 10, len(whole) // 2):
            (self.root / "cut.tar.gz").write_bytes(whole[:keep])
            done = subprocess.run([hbf, "conformance", "verify", self.root / "cut.tar.gz"], stdout=subprocess.PIPE,
                                  text=True, timeout=120)
            self.assertIn(done.returncode, (1, 3))
            self.assertNotIn("ACCEPTED", done.stdout)
        self.run_hbf("verify", self.root / "absent.tar.gz", expect=3)

    def test_nothing_is_written_where_it_cannot_be(self):
        statement = self.root / "s.toml"
        statement.write_text('company = "a"\nproduct = "b"\ncontact = "c"\n')
        arguments = ("package", self.root / "good.json", "--statement", statement, "-o")
        self.assertIn("absent", self.run_hbf(*arguments, self.root / "absent/p.tar.gz", expect=3).stderr)
        self.run_hbf(*arguments, "/dev/full", expect=3)
        statement.write_text("company = 1\n")
        self.assertIn("statement.toml:1", self.run_hbf(*arguments, self.root / "p.tar.gz", expect=3).stderr)
        self.assertFalse((self.root / "p.tar.gz").exists())

    @unittest.skipUnless(shutil.which("ssh-keygen"), "needs ssh-keygen (Debian: openssh-client)")
    def test_a_signature_says_who(self):
        key = self.root / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        self.package("p.tar.gz")
        signed = self.root / "s.tar.gz"
        self.run_hbf("package", self.root / "good.json", "--statement", self.root / "statement.toml", "-o", signed,
                     "--sign", key, expect=0)
        signers = self.root / "signers"
        signers.write_text("lab@example.org " + " ".join((self.root / "key.pub").read_text().split()[:2]) + "\n")
        self.assertIn("signed by lab@example.org", self.run_hbf("verify", signed, "--signers", signers, expect=1).stdout)
        self.assertIn("not signed", self.run_hbf("verify", self.root / "p.tar.gz", "--signers", signers, expect=1).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
