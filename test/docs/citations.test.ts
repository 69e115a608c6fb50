/**
 * Comments cite the pages of docs/spec by file and section. A citation must lead somewhere, and so must the links inside of those pages.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const SPEC = "docs/spec";
/** Where comments and pages cite from. Vectors and fixtures are data. */
const CITING = ["src", "test", "bench", "scripts", "docs", "deploy", "README.md"];
const DATA = /^test\/(vectors|fixtures)\//;
/** This file: its samples are wrong on purpose. */
const SELF = "test/docs/citations.test.ts";

/** The section numbers that each page has headings of: `4`, `4.1`, `2a`. */
type Sections = ReadonlyMap<string, ReadonlySet<string>>;

const NUMBER = String.raw`\d+(?:\.\d+)*[a-z]?\b`;
const SEPARATOR = "(?:, and |, | and | or | to )";
const NUMBERS = `${NUMBER}(?:${SEPARATOR}${NUMBER})*`;
const CITATION = new RegExp(
  String.raw`(\bspec )?([\w./-]*\b[\w-]+\.md)\b(?:,? (?:sections? )?(${NUMBERS}))?(?:[,;]? sections? (${NUMBERS}))?`,
  "g",
);
/** `Section 4.1` in a comment that names no page: a number means nothing by itself. */
const HOMELESS = /\b[Ss]ections? \d+(?:\.\d+)*\b/g;

/** A text whose lines stand behind one another, without the marks of comments: a citation may be broken anywhere. */
function unwrapped(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\*\/?|\/\/|#)?\s*/g, " ");
}

/** `4.2 to 4.4` names 4.3 too. */
function sectionsNamed(list: string): readonly string[] {
  return [...list.matchAll(new RegExp(`(${SEPARATOR})?(${NUMBER})`, "g"))].flatMap(
    ([, separator, number = ""], index, all) => {
      const before = all[index - 1]?.[2];
      return separator === " to " && before !== undefined ? between(before, number) : [number];
    },
  );
}

/** The numbers behind `first` up to `last`, where they differ in their last part only. */
function between(first: string, last: string): readonly string[] {
  const parent = first.slice(0, first.lastIndexOf(".") + 1);
  const from = Number(first.slice(parent.length));
  const to = Number(last.slice(parent.length));
  if (!last.startsWith(parent) || !(to > from)) return [`${first} to ${last}`];
  return Array.from({ length: to - from }, (_, index) => `${parent}${from + index + 1}`);
}

/** What is wrong with the citations of a text, in its own words. */
function mistakesOf(text: string, sections: Sections, fileExists: (name: string) => boolean): readonly string[] {
  const mistakes: string[] = [];
  const plain = unwrapped(text);
  for (const [whole, spec, name = "", numbers, more] of plain.matchAll(CITATION)) {
    const page = sections.get(name.startsWith(`${SPEC}/`) ? basename(name) : name);
    if (page === undefined) {
      if (spec !== undefined || !fileExists(name)) mistakes.push(`${whole}: there is no such page`);
      continue;
    }
    for (const number of [numbers, more].flatMap((list) => (list === undefined ? [] : sectionsNamed(list)))) {
      if (!page.has(number)) mistakes.push(`${whole}: there is no section ${number}`);
    }
  }
  return mistakes;
}

function homeless(text: string): readonly string[] {
  return [...unwrapped(text).replaceAll(CITATION, "").matchAll(HOMELESS)].map(([whole]) => `${whole}: of which page?`);
}

function sectionsOf(page: string): ReadonlySet<string> {
  return new Set([...page.matchAll(new RegExp(`^#{2,4} (${NUMBER})`, "gm"))].map(([, number = ""]) => number));
}

function filesBelow(path: string): readonly string[] {
  if (path.endsWith(".md")) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|md|ya?ml)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !DATA.test(file) && !file.includes("node_modules") && file !== SELF);
}

const pages = new Map(
  readdirSync(join(root, SPEC))
    .filter((name) => name.endsWith(".md"))
    .map((name) => [name, readFileSync(join(root, SPEC, name), "utf8")]),
);
const sections: Sections = new Map([...pages].map(([name, text]) => [name, sectionsOf(text)]));

const noOther = () => false;

describe("citations of docs/spec", () => {
  test("lead to a page and a section of it, wherever they stand", () => {
    const mistakes = CITING.flatMap(filesBelow).flatMap((file) => {
      // Compiled tests read pages from below dist.
      const places = [root, join(root, "docs"), dirname(join(root, file)), dirname(join(root, "dist", file))];
      const exists = (name: string) => places.some((place) => existsSync(join(place, name)));
      const text = readFileSync(join(root, file), "utf8");
      const found = file.startsWith(`${SPEC}/`) || file.endsWith(".md") ? [] : homeless(text);
      return [...mistakesOf(text, sections, exists), ...found].map((mistake) => `${file}: ${mistake}`);
    });
    assert.deepEqual(mistakes, []);
  });

  test("are many: the search finds them", () => {
    const cited = filesBelow("src").flatMap((file) => [
      ...unwrapped(readFileSync(join(root, file), "utf8")).matchAll(/\bspec [\w-]+\.md [\d.]+/g),
    ]);
    assert.ok(cited.length > 200, `${cited.length}`);
  });

  const few: Sections = new Map([["a-page.md", new Set(["1", "1.1", "1.2", "1.3", "2", "3a"])]]);

  for (const right of [
    "/** See spec a-page.md 1.1. */",
    "(spec a-page.md section 2)",
    "spec a-page.md 1.1, 1.2 and 2, in this order",
    "spec a-page.md 1.1 to 1.3",
    "spec a-page.md 3a",
    "/**\n * as it is said (spec\n * a-page.md 1.1 and\n * 1.2): it is so\n */",
    "// all of spec a-page.md.",
  ]) {
    test(`${JSON.stringify(right)} is right`, () => assert.deepEqual(mistakesOf(right, few, noOther), []));
  }

  for (const [wrong, mistake] of [
    ["spec a-page.md 9.9", "spec a-page.md 9.9: there is no section 9.9"],
    ["spec a-page.md 1.1, 1.4", "spec a-page.md 1.1, 1.4: there is no section 1.4"],
    ["spec a-page.md 1.2 to 1.4", "spec a-page.md 1.2 to 1.4: there is no section 1.4"],
    ["spec a-page.md section 7", "spec a-page.md section 7: there is no section 7"],
    ["spec a-page.md 1, sections 4 and 5", "spec a-page.md 1, sections 4 and 5: there is no section 4"],
    ["// (spec\n// a-page.md\n// 1.9)", "spec a-page.md 1.9: there is no section 1.9"],
    ["spec another-page.md", "spec another-page.md: there is no such page"],
    ["notes.md, Style", "notes.md: there is no such page"],
  ] as const) {
    test(`${JSON.stringify(wrong)} is wrong`, () => assert.equal(mistakesOf(wrong, few, noOther)[0], mistake));
  }

  test("a number without a page is wrong", () => {
    assert.deepEqual(homeless("/** Section 4.1: what the policy said. */"), ["Section 4.1: of which page?"]);
    assert.deepEqual(homeless("spec a-page.md 1, sections 4 and 5"), []);
  });
});

describe("the pages of docs/spec", () => {
  test("have headings with numbers, each once", () => {
    for (const [name, text] of pages) {
      if (name === "README.md") continue;
      const numbers = [...text.matchAll(new RegExp(`^#{2,4} (${NUMBER})`, "gm"))].map(([, number]) => number);
      assert.ok(numbers.length > 5, name);
      assert.equal(new Set(numbers).size, numbers.length, name);
    }
  });

  test("are all in the table of README.md, and no others", () => {
    const listed = [...(pages.get("README.md") ?? "").matchAll(/^\| \[([\w-]+\.md)\]/gm)].map(([, name = ""]) => name);
    assert.deepEqual(listed.sort(), [...pages.keys()].filter((name) => name !== "README.md").sort());
  });

  test("have links that resolve, and § of sections that are there", () => {
    const mistakes = [...pages].flatMap(([name, text]) => {
      const links = [...text.replaceAll(/`[^`\n]+`/g, "").matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)].map(
        ([, target = ""]) => target,
      );
      const missing = links.filter((target) => !existsSync(join(root, SPEC, target)));
      const own = [...text.matchAll(new RegExp(`§(${NUMBER})`, "g"))].map(([, number = ""]) => number);
      return [...missing, ...own.filter((number) => !sections.get(name)?.has(number))].map(
        (what) => `${name}: ${what}`,
      );
    });
    assert.deepEqual(mistakes, []);
  });

  test("name no place on anybody's machine", () => {
    for (const [name, text] of pages)
      assert.doesNotMatch(text, /\.\.\/shared|(?<![\w}])\/(?:work|root|home\/(?!kubewarden))\b/, name);
  });
});
