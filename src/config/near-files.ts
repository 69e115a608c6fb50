import { type Dirent, existsSync, readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { nearest } from "../data/suggest.js";

/** Most names of a folder that are compared with a missing one. */
const MAX_NAMES = 1000;
/** Files that a configuration may name. */
const WANTED = /\.(?:wasm|ya?ml|json|toml)$/;

/** A hint for a file that does not exist: a file with nearly this name, or with another ending. Undefined when there is none. */
export function nearFileHint(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  if (path.includes("*")) return "patterns are not known here: name the folder, and every YAML file in it is read";
  const [folder, name] = [dirname(path), basename(path)];
  const names = namesIn(folder);
  if (names === undefined) {
    const other = nearest(basename(folder), namesIn(dirname(folder)) ?? []);
    return other === undefined
      ? undefined
      : `there is no such folder, but ${JSON.stringify(other)} stands in its place`;
  }
  const stem = stemOf(name);
  const near = nearest(name, names) ?? names.find((each) => WANTED.test(each) && stemOf(each) === stem);
  return near === undefined ? undefined : `beside it stands ${JSON.stringify(near)}`;
}

const stemOf = (name: string): string => name.replace(/\.[^.]*$/, "");

function namesIn(folder: string): readonly string[] | undefined {
  try {
    const entries: Dirent[] = readdirSync(folder, { withFileTypes: true });
    return entries.slice(0, MAX_NAMES).map((entry) => entry.name);
  } catch {
    return undefined;
  }
}
