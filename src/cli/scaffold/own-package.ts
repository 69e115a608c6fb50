/** How a scaffolded folder names this package among its dependencies. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseJson } from "../../data/json.js";
import { VERSION } from "../../data/version.js";

const NAME = "policy-group-gateway";
/** A dependency that is a file or folder: relative to the package.json that names it. */
const LOCAL = /^(?:file|link):(?!\/)(.*)$/;

/** As the nearest package.json above the folder does, where one has it: from a file, perhaps. Else this version. */
export function dependencyFrom(folder: string): string {
  let above = dirname(resolve(folder));
  for (let last = ""; above !== last; last = above, above = dirname(above)) {
    const written = dependencyIn(join(above, "package.json"));
    if (written === undefined) continue;
    const [, path] = LOCAL.exec(written) ?? [];
    if (path === undefined) return written;
    const moved = relative(resolve(folder), resolve(above, path)).split(sep).join("/");
    return `file:${moved}`;
  }
  return VERSION;
}

function dependencyIn(file: string): string | undefined {
  try {
    const { dependencies, devDependencies } = parseJson(readFileSync(file, "utf8")) as Record<string, unknown>;
    for (const list of [dependencies, devDependencies]) {
      if (typeof list !== "object" || list === null || !Object.hasOwn(list, NAME)) continue;
      const written: unknown = (list as Record<string, unknown>)[NAME];
      if (typeof written === "string") return written;
    }
  } catch {
    // None there, or one of another kind.
  }
  return undefined;
}
