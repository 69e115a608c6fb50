// Copies the types of what programs may import (package.json, exports) to dist/types, with all that they are made of: of 1,300 files some 150 are needed.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "dist/src");
const target = join(root, "dist/types");
const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g;

const found = new Set();
function add(file) {
  if (found.has(file)) return;
  found.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(IMPORT)) add(join(dirname(file), `${path}.d.ts`));
}
// An image is built without types.
if (existsSync(join(source, "index.d.ts"))) {
  for (const face of ["index", "cel/index"]) add(join(source, `${face}.d.ts`));
  rmSync(target, { recursive: true, force: true });
  for (const file of found) {
    const place = join(target, relative(source, file));
    mkdirSync(dirname(place), { recursive: true });
    copyFileSync(file, place);
  }
}
