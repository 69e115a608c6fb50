/** What drafts may read: files below one folder. A draft is written by whoever reaches the page, and what is wrong with a file may quote it. */
import { realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

/** Says why a path may not be read; undefined: it may, if it is there. */
export type Refusal = (path: string) => string | undefined;

const OUTSIDE = "is not below the folder of the policies file: a draft in the page reads no others";

/** Paths below a folder, links followed. What is outside is refused whether it is there or not. */
export function below(folder: string): Refusal {
  const holds = (top: string, path: string): boolean => {
    const way = relative(top, path);
    return way !== ".." && !way.startsWith(`..${sep}`) && resolve(top, way) === path;
  };
  return (path) => {
    const wanted = resolve(path);
    if (!holds(resolve(folder), wanted)) return OUTSIDE;
    try {
      return holds(realpathSync(folder), realpathSync(wanted)) ? undefined : OUTSIDE;
    } catch {
      // Whoever reads it says that it is not there.
      return undefined;
    }
  };
}
