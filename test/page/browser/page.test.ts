import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const page = join(root, "dist/page");
const css = readFileSync(join(root, "src/page/browser/page.css"), "utf8");
/** What a newcomer downloads before anything is seen. In bytes, not compressed. */
const HEAVIEST = 200 * 1024;

describe("the page as it is shipped", () => {
  test("it is three files, light enough", () => {
    const files = readdirSync(page).filter((file) => !file.endsWith(".new"));
    assert.deepEqual(files.sort(), ["index.html", "page.css", "page.js"]);
    const bytes = files.reduce((sum, file) => sum + statSync(join(page, file)).size, 0);
    assert.ok(bytes <= HEAVIEST, `${bytes} bytes`);
  });

  test("nothing in it stands inline or comes from elsewhere", () => {
    const html = readFileSync(join(page, "index.html"), "utf8");
    assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    const addresses = [...html.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
    assert.deepEqual(
      addresses.filter((address) => !/^(page\/page\.(js|css)|#\w+|data:image\/svg\+xml,.*)$/.test(address)),
      [],
    );
    const style = readFileSync(join(page, "page.css"), "utf8");
    assert.doesNotMatch(style, /url\(|@import/);
    const script = readFileSync(join(page, "page.js"), "utf8");
    assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
    const names = [...script.matchAll(/https?:\/\/[^"'`\s]+/g)].map(([address]) => address);
    assert.deepEqual([...new Set(names)], ["http://www.w3.org/2000/svg"]);
  });
});

/** WCAG 2.2: what text needs (1.4.3), and edges of what can be used (1.4.11). */
const TEXT = 4.5;
const EDGE = 3;

function luminance(colour: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe("the page's colours", () => {
  const [light = "", dark = ""] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block = ""]) => block);
  const named = (block: string) =>
    new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", colour = ""]) => [name, colour]));
  const grounds = ["ground", "panel", "chosen"];
  const pairs: readonly (readonly [text: string, grounds: readonly string[], least: number])[] = [
    ["ink", [...grounds, "good-ground", "bad-ground", "failed-ground"], TEXT],
    ["quiet", [...grounds, "good-ground", "bad-ground", "failed-ground"], TEXT],
    ["accent", ["ground", "panel"], TEXT],
    ["on-accent", ["accent"], TEXT],
    ["good", ["ground", "panel", "good-ground"], TEXT],
    ["bad", [...grounds, "bad-ground"], TEXT],
    ["failed", ["ground", "panel", "failed-ground"], TEXT],
    ["warn", [...grounds, "failed-ground"], TEXT],
    ...["key", "text", "value", "comment"].map((name) => [name, ["panel"], TEXT] as const),
    ["edge", ["ground", "panel"], EDGE],
  ];

  for (const [scheme, colours] of [
    ["light", named(light)],
    ["dark", named(dark)],
  ] as const) {
    test(`can be told apart in ${scheme}`, () => {
      assert.ok(colours.size >= 19);
      const weak = pairs.flatMap(([name, behind, least]) =>
        behind.flatMap((ground) => {
          const found = contrast(colours.get(name) ?? "", colours.get(ground) ?? "");
          return found >= least ? [] : [`${name} on ${ground}: ${found.toFixed(2)} of ${least}`];
        }),
      );
      assert.deepEqual(weak, []);
    });
  }
});
