/** Loads variables from a file: `:load`. */
import { readFileSync } from "node:fs";
import type { Value } from "../../../cel/index.js";
import { parseYamlDocuments, yamlText } from "../../../data/yaml.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";

/** Error of a file that can't be loaded, for the user of the prompt. */
export class LoadError extends Error {}

const NAME = /^[a-zA-Z_]\w*$/;
/** Members of a request that are variables of admission policies. */
const OF_REQUEST = ["object", "oldObject"] as const;

/**
 * The variables of a file, JSON or YAML: an AdmissionReview gives `request`, `object` and `oldObject`, a Kubernetes object is `object`, and of any
 * other object each member is a variable.
 * @param name the variable for the whole document; absent: as above
 * @throws LoadError
 */
export function loadVariables(file: string, name?: string): readonly (readonly [name: string, value: Value])[] {
  const value = readDocument(file);
  if (name !== undefined) {
    if (!NAME.test(name)) throw new LoadError(`'${name}' is not a name for a variable`);
    return [[name, value as Value]];
  }
  if (!isObject(value)) throw new LoadError(`${file} holds no object: give it a name, as in :load ${file} x`);
  const { kind, apiVersion, request } = value;
  if (isObject(request) && (kind === "AdmissionReview" || kind === undefined)) return ofRequest(request);
  if (typeof kind === "string" && typeof apiVersion === "string") return [["object", value as Value]];
  const members = Object.entries(value).filter(([key]) => NAME.test(key));
  if (members.length === 0) throw new LoadError(`${file} has no member that could be a variable`);
  return members.map(([key, member]) => [key, member as Value]);
}

function ofRequest(request: JsonObject): readonly (readonly [string, Value])[] {
  return [
    ["request", request as Value],
    ...OF_REQUEST.map((key): [string, Value] => [key, (request[key] ?? null) as Value]),
  ];
}

function readDocument(file: string): unknown {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new LoadError(code === "ENOENT" ? `there is no file ${file}` : `${file} can't be read (${code})`);
  }
  let documents: unknown[];
  try {
    documents = parseYamlDocuments(yamlText(content));
  } catch (error) {
    throw new LoadError(`${file}: ${error instanceof Error ? error.message : "unreadable"}`);
  }
  if (documents.length !== 1) throw new LoadError(`${file} holds ${documents.length} documents, expected one`);
  return documents[0];
}
