#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gathers the documents for the documentation site, and checks the site that came of them.

    docs_site.py gather FOLDER HBF   documents, and the files they link to, into an empty FOLDER; the man pages of HBF
    docs_site.py settle FOLDER       the site asks no web server for anything: what Debian's theme would, lies in it
    docs_site.py check FOLDER        every link inside the site leads somewhere, and no page loads from elsewhere
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

from documents import markdown
from documents_test import SOURCE, list_documents

ATTRIBUTE = re.compile(r'<(\w+)\b[^>]*?\s(href|src|poster|data|action)\s*=\s*(?:"([^"]*)"|\'([^\']*)\')', re.IGNORECASE)
ANCHOR = re.compile(r'\s(?:id|name)\s*=\s*(?:"([^"]*)"|\'([^\']*)\')')
STYLE_URL = re.compile(r'(?:url\(\s*[\'"]?|@import\s+[\'"])(?!data:)([^\'")\s]+)')
# Debian takes these files out of the theme: its web servers have them at /javascript.
SHARED = pathlib.Path('/usr/share/javascript')
# Doxygen heads the summary of a class that has only private ones inside with a link to a list that it leaves out.
DOXYGEN_LEAVES_OUT = 'nested-classes'
# What a browser fetches by itself; an <a> is followed by the reader.
LOADS = {'link', 'script', 'img', 'iframe', 'source', 'video', 'audio', 'object', 'embed'}


def gather(folder):
    for name in list_documents(SOURCE):
        if name.startswith('plugins/sdk/template/'):
            continue  # the document of a project that is not there yet
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, copy)
        for target in markdown.links(markdown.split(copy.read_text(encoding='utf-8'))[1])[0]:
            linked = ((SOURCE / name).parent / target.split('#')[0]).resolve()
            if linked.is_file() and linked.suffix != '.md' and linked.is_relative_to(SOURCE):
                place = folder / linked.relative_to(SOURCE)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, place)
    for page in ('index.md', 'api.md'):
        shutil.copyfile(SOURCE / 'docs/site' / page, folder / page)


def man_pages(folder, hbf):
    """The pages that an installation has, as HTML: made by the command from its own definitions."""
    def said(*words):
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    names = re.findall(r'^  ([a-z]+)  ', said(hbf, '--help'), re.MULTILINE)
    if not names:
        sys.exit(f'docs_site.py: {hbf} --help lists no command')
    (folder / 'man').mkdir()
    for name in [None] + names:
        roff = said(hbf, 'help', '--man', *([name] if name else []))
        page = subprocess.run(['mandoc', '-T', 'html', '-O', 'fragment'], input=roff, capture_output=True, text=True,
                              check=True)
        title = f'hbf-{name}(1)' if name else 'hbf(1)'
        # It has headings of its own, with anchors: nothing for the reader of Markdown.
        (folder / 'man' / f'{title[:-3]}.md').write_text(f'# {title}\n\n``````{{raw}} html\n{page.stdout}\n``````\n')


def settle(folder):
    for sheet in [path for path in (folder / '_static').rglob('*.css') if path.is_file()]:
        text = sheet.read_text(encoding='utf-8')
        for name in set(re.findall(r'(?<=[\'"(])/javascript/([\w./-]+)', text)):
            place = folder / '_static/javascript' / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SHARED / name, place)
            text = text.replace(f'/javascript/{name}', os.path.relpath(place, sheet.parent))
        sheet.write_text(text, encoding='utf-8')


class Site:
    def __init__(self, folder):
        self.folder = folder.resolve()
        self.wrong, self.links, self.known = [], 0, {}

    def anchors(self, path):
        if path not in self.known:
            text = path.read_text(encoding='utf-8', errors='replace') if path.suffix == '.html' else ''
            self.known[path] = {html.unescape(a or b) for a, b in ANCHOR.findall(text)}
        return self.known[path]

    def check_target(self, page, target, loaded):
        target = html.unescape(target).strip()
        scheme = urllib.parse.urlsplit(target).scheme
        if target.startswith('//') or scheme in ('http', 'https'):
            if loaded:
                self.wrong.append(f'{page.relative_to(self.folder)} loads {target}: the site must need no network')
            return
        if scheme or not target:
            return
        self.links += 1
        path, _, anchor = target.partition('#')
        path = urllib.parse.unquote(path.split('?')[0])
        place = (page.parent / path).resolve() if path else page
        if path.startswith('/') or not place.is_relative_to(self.folder):
            self.wrong.append(f'{page.relative_to(self.folder)}: the link to {target} leaves the site')
        elif not place.is_file():
            self.wrong.append(f'{page.relative_to(self.folder)}: the link to {target} leads nowhere')
        elif anchor == DOXYGEN_LEAVES_OUT and page.is_relative_to(self.folder / 'api'):
            return
        elif anchor and place.suffix == '.html' and urllib.parse.unquote(anchor) not in self.anchors(place):
            self.wrong.append(f'{page.relative_to(self.folder)}: the link to {target}: no such place on that page')

    def check(self):
        pages = sorted(self.folder.rglob('*.html'))
        for page in pages:
            text = page.read_text(encoding='utf-8', errors='replace')
            text = re.sub(r'<!--.*?-->', '', text, flags=re.DOTALL)
            for tag, _, one, other in ATTRIBUTE.findall(text):
                self.check_target(page, one or other, tag.lower() in LOADS)
        for sheet in sorted(path for path in self.folder.rglob('*.css') if path.is_file()):
            for target in STYLE_URL.findall(re.sub(r'/\*.*?\*/', '', sheet.read_text(errors='replace'), flags=re.DOTALL)):
                self.check_target(sheet, target, True)
        return len(pages)


def main():
    verb = sys.argv[1] if len(sys.argv) > 2 else ''
    if (verb, len(sys.argv)) not in (('gather', 4), ('settle', 3), ('check', 3)):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    if verb == 'gather':
        gather(folder)
        man_pages(folder, sys.argv[3])
        return 0
    if verb == 'settle':
        settle(folder)
        return 0
    site = Site(folder)
    pages = site.check()
    for what in site.wrong[:40]:
        print(what, file=sys.stderr)
    print(f'{pages} pages, {site.links} links inside the site, {len(site.wrong)} wrong')
    return 1 if site.wrong or pages == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
