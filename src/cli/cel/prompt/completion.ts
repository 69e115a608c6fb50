/** What may stand where the cursor is. */
import { type DeclaredNames, MapValue, type Value } from "../../../cel/index.js";
import { isJsonObject } from "../../../data/same-value.js";

/** Names that are offered at a time: more are no help. */
const MOST = 200;
/** Words of the language. */
const WORDS = ["true", "false", "null", "in"];

/** What completion knows. */
export interface Completing {
  readonly names: DeclaredNames;
  /** Commands of the prompt, with their colons. */
  readonly commands: readonly string[];
  /** The value of a variable, where it has one that is there. */
  readonly value: (variable: string) => Value | undefined;
}

/** The candidates for the end of a line, and what of it they take the place of: as `readline` wants it. */
export function complete(line: string, { names, commands, value }: Completing): [candidates: string[], part: string] {
  if (/^\s*:\w*$/.test(line)) return pick(commands, line.trimStart());
  const path = PATH.exec(line.slice(-LONGEST_PATH))?.[0] ?? "";
  const dot = path.lastIndexOf(".");
  if (dot < 0) {
    const variables = names.variables.map(({ name }) => name);
    return pick([...variables, ...names.functions.map(called), ...WORDS], path);
  }
  const head = path.slice(0, dot);
  const part = path.slice(dot + 1);
  const inside = names.functions.filter((name) => name.startsWith(`${head}.`)).map((name) => name.slice(dot + 1));
  if (inside.length > 0 && value(head.split(".")[0] ?? "") === undefined) return pick(inside.map(called), part);
  const fields = head === "" ? [] : fieldsOf(follow(head, value));
  // `object.spec.cont` means the containers that are there, and not the function `contains`.
  const known = pick(fields, part);
  return part !== "" && known[0].length > 0 ? known : pick([...fields, ...names.methods.map(called)], part);
}

/** Names, indexes and dots: what a value is reached by. */
const PATH = /[\w.?[\]]*$/;
/** Characters of it that are looked at. */
const LONGEST_PATH = 200;
const NAME = /^[a-zA-Z_]\w*$/;

const called = (name: string): string => `${name}(`;

function pick(candidates: readonly string[], part: string): [string[], string] {
  const fitting = [...new Set(candidates)].filter((candidate) => candidate.startsWith(part));
  return [fitting.slice(0, MOST), part];
}

/** The value that a path leads to. Any item of a list stands for all. */
function follow(path: string, value: Completing["value"]): unknown {
  const [name = "", ...fields] = path.replace(/\[[^\]]*\]?/g, ".0").split(".");
  let found: unknown = value(name);
  for (const field of fields) {
    const key = field.replace(/^\?/, "");
    if (Array.isArray(found)) found = found[0];
    else found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

/** Fields that can be written behind a dot. */
function fieldsOf(value: unknown): string[] {
  if (!isJsonObject(value) || value instanceof MapValue) return [];
  return Object.keys(value).filter((key) => NAME.test(key));
}
