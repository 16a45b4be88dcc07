#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports as other programs read them: JSON against the published schema, JUnit by an XML parser, the page by a real
browser without a window. What is not installed is said, and that part is left out.

  report_files_test.py WRITE_SAMPLES SCHEMA"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import jsonschema
except ImportError:
    jsonschema = None

writer, schema_file = sys.argv[1:3]
browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
folder = tempfile.TemporaryDirectory()
root = pathlib.Path(folder.name)


def dump(page, script=None):
    """The page's document after its scripts ran, as the browser has it."""
    if script:
        page = pathlib.Path(shutil.copy(page, root / "scripted.html"))
        page.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,800",
               f"--user-data-dir={root / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=True, text=True)
    return done.stdout


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([writer, root], check=True)

    def test_json_obeys_the_schema_and_the_schema_refuses_what_is_wrong(self):
        if jsonschema is None:
            self.skipTest("needs python3-jsonschema")
        schema = json.loads(pathlib.Path(schema_file).read_text())
        for name in ("bad", "good"):
            report = json.loads((root / f"{name}.json").read_text())
            jsonschema.validate(report, schema)
            self.assertEqual(set(report) - set(schema["properties"]), set(), "a member that the schema does not describe")
            for case in report["cases"]:
                self.assertEqual(set(case) - set(schema["$defs"]["case"]["properties"]), set())
        for change in ({"seed": 42}, {"schema_version": 2}, {"verdict": "fine"}, {"cases": [{}]},
                       {"preflight": {"summary": "", "findings": [{"id": "x"}]}}):
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({**report, **change}, schema)

    def test_junit_is_xml(self):
        for name, failures in (("bad", "6"), ("good", "0")):
            suites = xml.etree.ElementTree.parse(root / f"{name}.xml").getroot()
            self.assertEqual(suites.get("failures"), failures)
            self.assertEqual(len(suites.findall(".//testcase")), int(suites.get("tests")))

    def test_a_browser_shows_verdict_case_fault_tier_and_address_on_its_first_screen(self):
        if browser is None:
            self.skipTest("needs a browser that runs without a window (chromium)")
        # What lies inside the window's height without scrolling.
        script = ("const seen=[...document.querySelectorAll('h1,dd,strong,p')]"
                  ".filter(e=>e.getBoundingClientRect().bottom<=innerHeight)"
                  ".map(e=>e.textContent).join('|');document.body.dataset.firstScreen=seen")
        page = dump(root / "bad.html", script)
        first = re.search(r'data-first-screen="([^"]*)"', page)[1]
        for text in ("NOT CONFORMANT", "dma.copy.guard_bytes_untouched", "bit flip", "vram0", "0x7f0000001001", "EMULATED"):
            self.assertIn(text, first)
        drawn = re.search(r'data-plots-drawn="(\d+)"', page)
        if "built without Chart.js" not in page:
            self.assertEqual(drawn[1], "3", "each plot was drawn")
        self.assertIn("CONFORMANT", dump(root / "good.html"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
