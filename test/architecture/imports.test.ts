import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { IMPORT_RULES, INNER_ROOMS } from "./import-rules.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const src = join(root, "src");
const files = readdirSync(src, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith(".ts"));

interface Import {
  readonly file: string;
  /** The file that is imported, as `file` is written. */
  readonly target: string;
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** What of `page` the browser runs, too: without Node, and importing nothing that is not. All else it may import for its types only. */
const FOR_BROWSERS = ["page/expression-tree.ts"];

/** The room of a file: a folder of src, or a room inside of one. A kind does not know another. */
function roomOf(path: string): string {
  const [room = "", second = "", ...rest] = relative(src, path)
    .replace(/\.[jt]s$/, "")
    .split("/");
  const inner = `${room}/${second}`;
  const isKind = room === "kinds" && (second === "registry" || rest.length > 0);
  return isKind || INNER_ROOMS.includes(inner) ? inner : room;
}

function importsOf(file: string): Import[] {
  const path = join(src, file);
  const text = readFileSync(path, "utf8");
  const found: Import[] = [];
  const pattern =
    /^\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+["'](\.[^"']+)["']|import\(\s*["'](\.[^"']+)["']\s*\)/gm;
  for (const [, type, statically, dynamically] of text.matchAll(pattern)) {
    const target = resolve(dirname(path), statically ?? dynamically ?? "");
    found.push({
      file,
      target: relative(src, target).replace(/\.js$/, ".ts"),
      from: roomOf(path),
      to: roomOf(target),
      typeOnly: type !== undefined,
    });
  }
  return found;
}

const all = files.flatMap(importsOf);
const imports = all.filter(({ from, to }) => from !== to);

/** A way from a file back to itself; undefined when there is none. Files without any are noted in `clean`. */
function cycleFrom(
  file: string,
  graph: ReadonlyMap<string, readonly string[]>,
  clean: Set<string>,
): string[] | undefined {
  const path: string[] = [];
  const visit = (current: string): string[] | undefined => {
    const at = path.indexOf(current);
    if (at !== -1) return [...path.slice(at), current];
    if (clean.has(current)) return undefined;
    path.push(current);
    for (const next of graph.get(current) ?? []) {
      const found = visit(next);
      if (found !== undefined) return found;
    }
    path.pop();
    clean.add(current);
    return undefined;
  };
  return visit(file);
}

/** A way around for every file from which there is one. */
function cyclesAmong(edges: readonly Pick<Import, "file" | "target">[]): string[] {
  const graph = new Map<string, string[]>();
  for (const { file, target } of edges) graph.set(file, [...(graph.get(file) ?? []), target]);
  const clean = new Set<string>();
  const cycles = [...graph.keys()].map((file) => cycleFrom(file, graph, clean)?.join(" -> "));
  return [...new Set(cycles.filter((cycle) => cycle !== undefined))];
}

describe("import directions", () => {
  test("the scan sees imports across rooms", () => {
    assert.ok(imports.some(({ from, to }) => from === "main" && to === "cli"));
    assert.ok(imports.some(({ from, to }) => from === "kinds/group" && to === "cel"));
  });

  test("every import between rooms is in the table, and every row is used", () => {
    const forbidden = imports
      .filter(({ from, to, typeOnly }) => {
        const allowed = IMPORT_RULES[from];
        return !(allowed?.rooms.includes(to) || (typeOnly && allowed?.types?.includes(to)));
      })
      .map(({ file, to }) => `src/${file} imports ${to}`);
    assert.deepEqual(forbidden, []);
    const unused = Object.entries(IMPORT_RULES).flatMap(([from, { rooms, types = [] }]) =>
      [...rooms, ...types]
        .filter((to) => !imports.some((each) => each.from === from && each.to === to))
        .map((to) => `${from}: ${to}`),
    );
    assert.deepEqual(unused, []);
  });

  test("the page in the browser takes from the server's code what browsers run, and types", () => {
    const own = all.filter(({ from, typeOnly }) => from === "page/browser" && !typeOnly);
    assert.ok(own.length > 20);
    const foreign = own.filter(({ to, target }) => to !== "page/browser" && !FOR_BROWSERS.includes(target));
    assert.deepEqual(foreign, []);
    const behind = all.filter(({ file, typeOnly }) => FOR_BROWSERS.includes(file) && !typeOnly);
    assert.deepEqual(behind, []);
    const texts = files
      .filter((file) => file.startsWith("page/browser/"))
      .map((file) => readFileSync(join(src, file), "utf8"));
    assert.ok(
      texts.every((text) => !/from "(?!\.)/.test(text)),
      "no package",
    );
  });

  test("no file imports itself by way of others, not even for types", () => {
    const seen = cyclesAmong([
      { file: "a", target: "b" },
      { file: "b", target: "c" },
      { file: "c", target: "b" },
    ]);
    assert.ok(seen.includes("b -> c -> b"));
    const unknown = all.filter(({ target }) => !files.includes(target));
    assert.deepEqual(unknown, []);
    assert.deepEqual(cyclesAmong(all), []);
  });

  test("the CEL engine is known by its public face alone", () => {
    const deep = imports
      .filter(({ to, target }) => to === "cel" && target !== "cel/index.ts")
      .map(({ file, target }) => `src/${file} imports ${target}`);
    assert.deepEqual(deep, []);
  });
});

test("source files stay below 400 lines, tables excepted", () => {
  const long = files
    .filter((file) => !/(tables?|data)\b/.test(file))
    .map((file) => ({ file, lines: readFileSync(join(src, file), "utf8").split("\n").length }))
    .filter(({ lines }) => lines > 400)
    .map(({ file, lines }) => `${file}: ${lines}`);
  assert.deepEqual(long, []);
});

test("nothing names a package registry or a machine", () => {
  // Put together here so that this file does not match itself.
  const words = [
    ["registry", "npmjs", "org"].join("."),
    ["crates", "io"].join("."),
    ["proxy", "golang", "org"].join("."),
  ];
  const listed = [...files.map((file) => `src/${file}`), "package.json", "package-lock.json", "README.md"];
  const hits = listed.filter((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return words.some((word) => text.includes(word));
  });
  assert.deepEqual(hits, []);
});
