/** `json.*` and `yaml.*`. */
import { applyPatch, type Operation } from "rfc6902";
import { stringify } from "yaml";
import { parseJson } from "../../../data/json.js";
import { parseYamlDocuments } from "../../../data/yaml.js";
import type { Builtin } from "./index.js";
import { listOf, objectOf, textOf } from "./operands.js";

const PATCH_OPERATIONS: ReadonlySet<unknown> = new Set(["add", "remove", "replace", "move", "copy", "test"]);

/** See the module. */
export const jsonBuiltins: Readonly<Record<string, Builtin>> = {
  "json.is_valid": (text) => typeof text === "string" && succeeds(() => parseJson(text)),
  "json.patch": (target, patch) => patched(target, listOf(patch, "json.patch")),
  "yaml.is_valid": (text) => typeof text === "string" && succeeds(() => parseYamlDocuments(text)),
  "yaml.marshal": (value) =>
    stringify(plain(value), { sortMapEntries: true, lineWidth: 0, indentSeq: false, compat: "yaml-1.1" }),
  "yaml.unmarshal": (text) => {
    const documents = parseYamlDocuments(textOf(text, "yaml.unmarshal"));
    return documents[0] ?? null;
  },
};

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

function patched(target: unknown, patch: readonly unknown[]): unknown {
  const holder = { value: structuredClone(target) };
  const operations = patch.map((entry) => {
    const operation = { ...objectOf(entry, "json.patch") };
    if (!PATCH_OPERATIONS.has(operation.op)) throw new Error("json.patch: unknown operation");
    operation.path = `/value${pointer(operation.path)}`;
    if (operation.from !== undefined) operation.from = `/value${pointer(operation.from)}`;
    return operation as unknown as Operation;
  });
  const failed = applyPatch(holder, operations).find((error) => error !== null);
  if (failed) throw new Error(`json.patch: ${failed.message}`);
  return holder.value;
}

/** A path is a JSON Pointer (its first slash may be left out) or a list of steps. */
function pointer(path: unknown): string {
  if (Array.isArray(path))
    return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const text = textOf(path, "json.patch");
  return text === "" || text.startsWith("/") ? text : `/${text}`;
}

/** What the YAML printer prints as a number: it does not know `Number` objects. */
function plain(value: unknown): unknown {
  if (value instanceof Number) return value.valueOf();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null)
    return new Map(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  return value;
}
