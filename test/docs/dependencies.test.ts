import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { directPackages, lockedPackages, productionPackages } from "./dependency-tables.js";

const page = readFileSync(new URL("../../../docs/dependencies.md", import.meta.url), "utf8");
const packages = lockedPackages();

test("no package has an install script: `npm ci` runs none but ours", () => {
  const scripts = Object.keys(packages).filter((place) => place !== "" && packages[place]?.hasInstallScript);
  assert.deepEqual(scripts, []);
});

test("every direct dependency is named with its reason, every other production package with who brings it", () => {
  const [reasons = "", tree = ""] = page.split("<!-- generated dependency-tree -->");
  const words = (text: string): ReadonlySet<string> => new Set(text.split(/[\s|,;:()]+/));
  const { installed, joined } = directPackages(packages);
  for (const name of [...installed, ...joined]) {
    const short = name.replace(/^@opentelemetry\//, "");
    assert.ok(words(reasons).has(name) || words(reasons).has(short), `${name} has no reason`);
  }
  const direct = new Set([...installed, ...joined]);
  const told = words(tree);
  for (const name of productionPackages(packages))
    assert.ok(direct.has(name) || told.has(name), `${name} is not named`);
});

test("what is joined is no dependency of who installs us", () => {
  const { installed, joined } = directPackages(packages);
  assert.deepEqual(
    joined.filter((name) => installed.includes(name)),
    [],
  );
});
