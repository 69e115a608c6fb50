/**
 * What programs import, name by name and type by type: a change of either is a change for them, and goes into CHANGELOG.md. `UPDATE_SNAPSHOTS=1` writes the golden files anew.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const COMPILED = fileURLToPath(new URL("../../src/", import.meta.url));
const GOLDEN = fileURLToPath(new URL("../../../test/library/public-face/", import.meta.url));
const SPECIFIER = /(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g;
const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum|namespace) ([\w$]+)/;

/** All declaration files that a face is made of. */
function filesOf(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file)) return found;
  const text = readFileSync(file, "utf8");
  found.set(file, text);
  for (const [, path] of text.matchAll(SPECIFIER)) filesOf(join(dirname(file), `${path}.d.ts`), found);
  return found;
}

/** Declarations of a file by name, without their comments: each begins at the margin. */
function declarationsIn(text: string): [name: string, declaration: string][] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/#.*/g, "").replace(/^import [^;]+;$/gm, "");
  const parts = code.split(/\n(?=(?:export|declare|interface|type|class|abstract|const|function|enum) )/);
  return parts.flatMap((part) => {
    const name = DECLARATION.exec(part.trim())?.[1];
    const lines = part.split("\n").filter((line) => line.trim() !== "");
    return name === undefined ? [] : [[name, lines.join("\n").replace(/^export (?:declare )?|^declare /, "")]];
  });
}

/** The names that a face exports, and every declaration that they are made of; where these stand does not matter. */
function face(entry: string): string {
  const file = join(COMPILED, entry);
  const declarations = new Map<string, Set<string>>();
  for (const text of filesOf(file).values())
    for (const [name, declaration] of declarationsIn(text))
      declarations.set(name, (declarations.get(name) ?? new Set()).add(declaration));
  const exported = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  const names = [...exported.matchAll(/export (?:type )?\{([^}]+)\}/g)]
    .flatMap(([, list = ""]) => list.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .sort();
  const [wanted, queue] = [new Set<string>(), names.map((name) => name.replace(/^type | as .*/g, ""))];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (wanted.has(name)) continue;
    wanted.add(name);
    for (const text of declarations.get(name) ?? []) queue.push(...(text.match(/[A-Za-z_$][\w$]*/g) ?? []));
  }
  const texts = [...wanted].sort().flatMap((name) => [...(declarations.get(name) ?? [])].sort());
  return `${names.join("\n")}\n\n${texts.join("\n\n")}\n`;
}

describe("what programs import", () => {
  for (const [entry, golden] of [
    ["index.d.ts", "index.txt"],
    ["cel/index.d.ts", "cel.txt"],
  ] as const)
    test(`${golden}: its names and their types are those of the golden file`, () => {
      const found = face(entry);
      if (process.env.UPDATE_SNAPSHOTS) writeFileSync(join(GOLDEN, golden), found);
      assert.ok(found.split("\n").length > 100);
      assert.equal(found, readFileSync(join(GOLDEN, golden), "utf8"));
    });
});
