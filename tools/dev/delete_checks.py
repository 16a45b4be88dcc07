#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes each check of the conformance suite out, one at a time, and asks whether `hbf conformance mutants` notices.

The suite is compiled once, with a switch in every check; a check that is switched off never fails. The switches also tell
which checks failed, so that only those mutants are run again in which a check had a part. A `&&` or `||` of a check is
tried too, and told apart (NAME/1, NAME/2): most guard against what no mutant does.

    CXX="$PWD/tools/dev/delete_checks.py cxx g++" meson setup build-deleted && ninja -C build-deleted
    tools/dev/delete_checks.py run build-deleted [WORD]    every check, or those whose file contains WORD
    tools/dev/delete_checks.py list                        the checks that are found in the source

What is known is kept in build-deleted/deleted_checks.json: remove it to begin anew. Exits with 1 if a check is missed by
nobody.
"""
import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
SUITE = TOP / "conformance" / "suite"

SWITCH = r"""
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
namespace hbf_switch {
// Whether the check of this name is good, or switched off. Tells that it is not good. Takes no memory.
inline bool kept(const char *name, bool good) noexcept {
    if (good) return true;
    if (const char *log = std::getenv("HBF_CHECKS_LOG")) {
        char line[4096];
        const char *machine = std::getenv("HBF_EMULATE_FAULTS");
        int size = std::snprintf(line, sizeof line / 2, machine ? "%s\t@emulated\x1f%s\x1f" : "%s\t", name, machine);
        const int arguments = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
        const auto more = read(arguments, line + size, sizeof line - static_cast<size_t>(size) - 1);
        close(arguments);
        for (int i = size; more > 0 && i < size + more; ++i)
            if (line[i] == '\0' || line[i] == '\n') line[i] = '\x1f';
        if (more > 0) size += static_cast<int>(more);
        line[size++] = '\n';
        const int file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        (void)!write(file, line, static_cast<size_t>(size));
        close(file);
    }
    const char *off = std::getenv("HBF_CHECK_OFF");
    return off && std::strcmp(off, name) == 0;
}
template <class Context, class Call, class Status, class What>
void kept_status(const char *name, Context &context, const Call &actual, Status expected, What &&what) {
    if (kept(name, actual.status == expected && (expected == 0 || !actual.message.empty())))
        context.count_check();
    else
        context.check_status(actual, expected, what);
}
// What a call that must go well came to, or that it went well.
template <class Call>
Call went(const char *name, Call call) {
    if constexpr (requires { call.status; })
        return kept(name, call.status == 0) ? Call{} : call;
    else
        return kept(name, call == 0) ? Call{} : call;
}
// A call that throws where what it looks at is wrong.
template <class Look>
void verified(const char *name, Look &&look) {
    try {
        look();
    } catch (...) {
        if (!kept(name, false)) throw;
    }
}
} // namespace hbf_switch
"""

# Explanations, what all checks are made of, and libraries that have tests of their own.
NO_CHECKS = {"dma/explain.cpp", "context.cpp", "bandwidth/judge.cpp", "bandwidth/judge_test.cpp",
             "lifecycle/watch_test.cpp"}
TROUBLE = re.compile(r"^(abi/(arguments|exception|operations|sized_calls)|lifecycle/.*|security/storage)\.cpp$")
FAILING = re.compile(r"(conformance::)?(fail|fail_\w+|leaked|silent|judge)\(|throw Verdict\{Status::(fail|device_lost)"
                     r"|throw Verdict\{$")
TROUBLE_RETURN = re.compile(r'return ("|fmt::format\(|std::string\("|left;|wrong;)')


def masked(text):
    """The same, with what stands in strings and comments blanked: positions stay."""
    out = list(text)
    for m in re.finditer(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*(?:.|\n)*?\*/', text):
        keep = 1 if m.group()[0] in "\"'" else 0
        for i in range(m.start() + keep, m.end() - keep):
            if out[i] != "\n":
                out[i] = " "
    return "".join(out)


def closing(text, at):
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"no end of {text[at:at + 60]!r}")


def top_level(text, begin, end, token):
    """Places of `token` between, outside all brackets."""
    depth, i, out = 0, begin, []
    while i < end:
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(token, i):
            out.append(i)
            i += len(token) - 1
        i += 1
    return out


def skip_space(text, i):
    while i < len(text) and text[i].isspace():
        i += 1
    return i


def statements(mask, begin, end):
    """(begin, end) of the statements of a block's inside."""
    out, i = [], skip_space(mask, begin)
    while i < end:
        start = i
        while i < end:
            if mask[i] in "([":
                i = closing(mask, i)
            elif mask[i] == "{":
                i = closing(mask, i)
                after = skip_space(mask, i + 1)
                if mask.startswith("else", after) or mask.startswith("while", after) or mask[after:after + 1] in ",;).":
                    i = after
                    continue
                break
            elif mask[i] == ";":
                break
            i += 1
        out.append((start, min(i + 1, end)))
        i = skip_space(mask, i + 1)
    return out


class Instrument:
    def __init__(self, path):
        self.name = str(path.relative_to(SUITE))
        self.text = path.read_text()
        self.mask = masked(self.text)
        self.inserts = collections.defaultdict(list)  # place -> text, in order
        self.checks = []  # (id, line's text)
        self.taken = {}
        if self.name in NO_CHECKS:
            return
        self.calls()
        self.ifs()
        if TROUBLE.match(self.name):
            self.ternaries()

    def new_id(self, begin, end):
        """A name that stays when lines move; told with the line it stands in."""
        line = self.text.count("\n", 0, begin) + 1
        words = hashlib.md5(" ".join(self.text[begin:end].split()).encode()).hexdigest()[:6]
        number = self.taken[words] = self.taken.get(words, 0) + 1
        name = f"{self.name}#{words}" + (f".{number}" if number > 1 else "")
        self.checks.append((name, f"{line}: {self.text.splitlines()[line - 1].strip()}"))
        return name

    def wrap(self, begin, end, bad):
        """A condition: `good` or `bad` says what it means to be true."""
        name = self.new_id(begin, end)
        token = "||" if bad else "&&"
        cuts = top_level(self.mask, begin, end, token)
        if top_level(self.mask, begin, end, "&&" if bad else "||") and cuts:
            cuts = []
        parts = list(zip([begin] + [c + 2 for c in cuts], cuts + [end])) if cuts else []
        before = f'!hbf_switch::kept("{name}", !(' if bad else f'hbf_switch::kept("{name}", static_cast<bool>('
        self.inserts[begin].insert(0, before)
        for number, (a, b) in enumerate(parts):
            a, b = skip_space(self.mask, a), b
            part = f"{name}/{number + 1}"
            self.checks.append((part, " ".join(self.text[a:b].split())))
            self.inserts[a].append(
                f'!hbf_switch::kept("{part}", !(' if bad else f'hbf_switch::kept("{part}", static_cast<bool>(')
            self.inserts[b].append("))")
        self.inserts[end].append("))")

    def calls(self):
        for m in re.finditer(r"\b(context_?\.check|check_in|expect|require)\(", self.mask):
            if re.search(r"(void|Context::) ?$", self.mask[max(0, m.start() - 9):m.start()]):
                continue
            end = closing(self.mask, m.end() - 1)
            commas = top_level(self.mask, m.end(), end, ",")
            first = m.end()
            if not m.group(1).endswith(".check") and self.mask[m.end():commas[0]].strip() in ("context", "context_"):
                first, commas = skip_space(self.mask, commas[0] + 1), commas[1:]
            self.wrap(first, commas[0], bad=False)
        for m in re.finditer(r"(?<![\w.>])must\(", self.mask):
            end = top_level(self.mask, m.end(), closing(self.mask, m.end() - 1), ",")[0]
            self.inserts[m.end()].append('hbf_switch::went("must", ')
            self.inserts[end].append(")")
            self.checks.append(("must", "what a case builds on goes well"))
        for m in re.finditer(r"\b(context_?)\.check_status\(", self.mask):
            name = self.new_id(m.start(), closing(self.mask, m.end() - 1))
            self.inserts[m.start()].append(f'hbf_switch::kept_status("{name}", ')
            # "context.check_status(" becomes "kept_status(ID, context, "
            self.inserts["cut", m.end(1), m.end()] = [", "]

        # A place that is looked at as a whole: one of several is a check of its own.
        for m in re.finditer(r"(?<=[;{})])\s+([\w\[\]]+(?:\.|->)verify\()context\b", self.mask):
            end = closing(self.mask, m.end(1) - 1) + 1
            name = self.new_id(m.start(1), end)
            self.inserts[m.start(1)].append(f'hbf_switch::verified("{name}", [&] {{ ')
            self.inserts[end].append("; })")

    def fails(self, begin, end):
        return bool(FAILING.match(self.text[begin:end]) or
                    (TROUBLE.match(self.name) and TROUBLE_RETURN.match(self.text[begin:end])))

    def ifs(self):
        for m in re.finditer(r"\bif (?:constexpr )?\(", self.mask):
            if "constexpr" in m.group():
                continue
            end = closing(self.mask, m.end() - 1)
            semicolons = top_level(self.mask, m.end(), end, ";")
            begin = skip_space(self.mask, semicolons[-1] + 1) if semicolons else m.end()
            body = skip_space(self.mask, end + 1)
            if self.mask[body] == "{":
                inside = statements(self.mask, body + 1, closing(self.mask, body))
                after = closing(self.mask, body) + 1
            else:
                stop = statements(self.mask, body, len(self.mask))[0]
                inside, after = [stop], stop[1]
            if not inside:
                continue
            if self.text[begin:end] == "good":
                continue
            declares = re.match(r"const \w+[ &*]|const auto", self.mask[begin:end])
            if self.fails(*inside[-1]):
                if not declares:
                    self.wrap(begin, end, bad=True)
                continue
            # Leaves early, and what follows fails whatever comes.
            if not re.match(r"return\b|continue;", self.text[inside[-1][0]:inside[-1][1]]):
                continue
            if self.mask.startswith("else", skip_space(self.mask, after)):
                continue
            rest = statements(self.mask, after, self.block_end(after))
            if rest and self.fails(*rest[-1]) and not declares:
                self.wrap(begin, end, bad=False)

    def block_end(self, at):
        depth = 0
        for i in range(at, len(self.mask)):
            if self.mask[i] in "([{":
                depth += 1
            elif self.mask[i] in ")]}":
                depth -= 1
                if depth < 0:
                    return i
        return len(self.mask)

    def ternaries(self):
        for m in re.finditer(r"\breturn ", self.mask):
            end = self.mask.index(";", m.end())
            marks = top_level(self.mask, m.end(), end, "?")
            if not marks:
                continue
            text = self.text[marks[0] + 1:end].strip()
            condition_end = marks[0]
            while self.text[condition_end - 1].isspace():
                condition_end -= 1
            if re.match(r'(""|std::string\(\)) *\n? *:', text):
                self.wrap(m.end(), condition_end, bad=False)
            elif re.search(r":\s*(\"\"|std::string\(\))$", text):
                self.wrap(m.end(), condition_end, bad=True)

    def result(self):
        cuts = {key[1]: key[2] for key in self.inserts if isinstance(key, tuple)}
        out, i = [], 0
        while i <= len(self.text):
            out += self.inserts.get(i, [])
            if i in cuts:
                out.append(", ")
                i = cuts[i]
                # what is inserted at the place after the cut
                out += self.inserts.get(i, [])
            if i < len(self.text):
                out.append(self.text[i])
            i += 1
        return f'#line 1 "{SUITE / self.name}"\n' + "".join(out)


def sources():
    return sorted(p for p in SUITE.glob("**/*.cpp") if str(p.relative_to(SUITE)) not in NO_CHECKS)


def all_checks():
    return list(dict.fromkeys(check for path in sources() for check in Instrument(path).checks))


def compile_as(words):
    source = next((w for w in words if w.endswith(".cpp")), "")
    path = pathlib.Path(os.path.abspath(source)) if source else None
    if "-c" in words and path and SUITE in path.parents and str(path.relative_to(SUITE)) not in NO_CHECKS:
        folder = pathlib.Path.cwd() / "switched"  # of the build
        to = folder / path.relative_to(SUITE)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(Instrument(path).result())
        header = folder / "switch.hpp"
        if not header.exists() or header.read_text() != SWITCH:
            header.write_text(SWITCH)
        words = [str(to) if w == source else w for w in words]
        words[words.index("-c"):words.index("-c")] = ["-include", str(header), "-Wno-error"]
    os.execvp(words[0], words)


def mutants(build, arguments, **environment):
    command = [str(build / "tools" / "hbf"), "conformance", "mutants", "--json", *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    return done


def who_fails(build, listed, filters):
    """Check -> {(mutant, case)} in which it failed."""
    by_key = collections.defaultdict(list)
    for mutant in listed:
        for case in mutant["killers"]:
            if mutant["base"].startswith("emulated"):
                faults = ";".join(filter(None, (mutant["fault"], mutant["given"])))
                by_key[case, "hbf_plugin_" + mutant["base"].split()[1], False, faults, ""].append(mutant["name"])
                continue
            variant = mutant["variant"] and ("hbf-case-" if mutant["base"] == "guard" else "hbf_plugin_") + mutant["variant"]
            by_key[case, variant, mutant["base"] == "host", mutant["fault"], mutant["given"]].append(mutant["name"])
    log = build / "checks.log"
    log.unlink(missing_ok=True)
    done = mutants(build, [w for f in filters for w in ("--filter", f)], HBF_CHECKS_LOG=str(log))
    (build / "checks.json").write_text(done.stdout)
    if done.returncode != 0:
        for row in json.loads(done.stdout)["mutants"]:
            if row["verdict"] != "killed":
                print("WITH EVERY CHECK", row["name"], row["verdict"],
                      [(a["case"], a["status"], a["reason"][:160]) for a in row["intended"] + row["without_fault"]
                       if a["status"] != "pass" or not a["kills"]], flush=True)
    found = collections.defaultdict(set)
    for line in log.read_text(errors="replace").splitlines():
        check, _, arguments = line.partition("\t")
        words = arguments.split("\x1f")
        machine = None
        if words[0] == "@emulated":
            machine, words = words[1], words[2:]
        if "--case" not in words:
            continue
        case = words[words.index("--case") + 1]
        options = [words[i + 1] for i, w in enumerate(words[:-1]) if w == "--option"]
        faults = [machine] if machine else []
        faults += [o[len("inject.fault="):] for o in options if o.startswith("inject.fault=")] + ["", ""]
        host = any(o.startswith("inject.plugin=") and "hbf_plugin_host" in o for o in options)
        program = pathlib.Path(words[0]).name
        library = pathlib.Path(words[words.index("--plugin") + 1]).stem
        variant = program if program != "hbf-case" else library if library not in ("hbf_plugin_inject",) else ""
        for name in by_key.get((case, variant, host, faults[0], faults[1]), ()):
            found[check].add((name, case))
    return found


def run(build, word, cache):
    listed = json.loads(mutants(build, ["--list"]).stdout)["mutants"]
    cache = pathlib.Path(cache)
    known = json.loads(cache.read_text()) if cache.exists() else {"mutants": [], "failed": {}, "proven": {}}
    identity = {m["name"]: json.dumps(m, sort_keys=True) for m in listed}
    fresh = [m["name"] for m in listed if identity[m["name"]] not in known["mutants"]]
    print(f"{len(fresh)} mutants to look at", flush=True)
    failed = collections.defaultdict(set, {k: {tuple(p) for p in v} for k, v in known["failed"].items()})
    if fresh:
        for check, pairs in who_fails(build, listed, fresh if known["mutants"] else []).items():
            failed[check] |= pairs
    known["mutants"] += [identity[name] for name in fresh]
    proven = known["proven"]
    survivors = []

    def save():
        known["failed"] = {k: sorted(v) for k, v in failed.items()}
        cache.write_text(json.dumps(known, indent=1))

    save()
    killers = {m["name"]: m["killers"] for m in listed}
    for name, text in all_checks():
        if word not in name or name in proven:
            continue
        for mutant, case in sorted(failed.get(name, ()), key=lambda p: (p[1].startswith("bandwidth"), p)):
            if case not in killers.get(mutant, ()):
                continue
            done = mutants(build, ["--filter", mutant, "--case", case, "--jobs", "1"], HBF_CHECK_OFF=name)
            if done.returncode == 1:
                proven[name] = [mutant, case]
                break
        if name not in proven:
            survivors.append((name, text))
            print(f"NOT NOTICED {name} {text}   [{len(failed.get(name, ()))} failures]", flush=True)
        save()
    whole = [s for s in survivors if "/" not in s[0].rsplit("#", 1)[-1]]
    print(f"{len(proven)} proven, {len(whole)} not noticed, and {len(survivors) - len(whole)} parts of checks")
    return 1 if whole else 0


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "cxx":
        compile_as(sys.argv[2:])
    elif what == "list":
        for name, text in all_checks():
            print(f"{name}\t{text}")
    elif what == "run":
        build = pathlib.Path(sys.argv[2]).resolve()
        sys.exit(run(build, sys.argv[3] if len(sys.argv) > 3 else "", build / "deleted_checks.json"))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
