import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const INDEX = "docs/README.md";

/** Pages for people: those of the root, of docs and of deploy. Policies and tests have READMEs beside their files. */
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["docs", "deploy"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, String(name)))
      .filter((name) => name.endsWith(".md")),
  ),
];
const texts = new Map(pages.map((page) => [page, readFileSync(join(root, page), "utf8")]));

/** Without blocks and spans of code, in which brackets mean something else. */
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "code");

/** What a page links to: targets without a scheme. */
function linksOf(text: string): readonly string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page's headings, as code hosts make them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#{1,6} (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) => {
      const slug = heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-");
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    }),
  );
}

/** Where a link of a page leads; the page itself for an anchor alone. */
const targetOf = (page: string, link: string): string =>
  link.startsWith("#") ? page : relative(root, resolve(root, dirname(page), link.split("#")[0] ?? ""));

describe("the docs", () => {
  test("have no link that leads nowhere", () => {
    const broken = [...texts].flatMap(([page, text]) =>
      linksOf(text).flatMap((link) => {
        const target = targetOf(page, link);
        if (!existsSync(join(root, target))) return [`${page}: ${link}: there is no such file`];
        const anchor = link.split("#")[1];
        if (anchor === undefined || !target.endsWith(".md")) return [];
        const there = anchorsOf(readFileSync(join(root, target), "utf8"));
        return there.has(anchor) ? [] : [`${page}: ${link}: there is no such section`];
      }),
    );
    assert.deepEqual(broken, []);
  });

  test("are all reached from their index", () => {
    const reached = new Set([INDEX]);
    for (const page of reached) {
      for (const link of linksOf(texts.get(page) ?? "")) {
        const target = targetOf(page, link);
        const file =
          existsSync(join(root, target)) && statSync(join(root, target)).isDirectory()
            ? join(target, "README.md")
            : target;
        if (texts.has(file)) reached.add(file);
      }
    }
    assert.deepEqual(
      pages.filter((page) => !reached.has(page)),
      [],
    );
  });

  test("name every page of docs in their index itself", () => {
    const named = new Set(linksOf(texts.get(INDEX) ?? "").map((link) => targetOf(INDEX, link)));
    const own = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== INDEX);
    assert.deepEqual(
      own.filter((page) => !named.has(page)),
      [],
    );
  });

  test("are led to by the README", () => {
    assert.ok(linksOf(texts.get("README.md") ?? "").includes(INDEX));
  });
});
