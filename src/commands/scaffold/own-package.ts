/** This package's own version, for the dependencies of what is scaffolded. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "policy-group-gateway";

/** The version in the package.json above this file; `latest` where there is none, as in an image. */
export function ownVersion(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let parent = dirname(folder); parent !== folder; parent = dirname(folder)) {
    folder = parent;
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
        string,
        unknown
      >;
      if (name === NAME && typeof version === "string") return version;
    } catch {
      // Further up.
    }
  }
  return "latest";
}
