/**
 * A file of variables for expressions: declarations with their values. Per name `type`, and one of `value` (tagged), `json`, `file` (JSON, relative to
 * this file); `fields` declares an object type; an authorizer has a `user` and answers by the verb; `bound: false` declares only.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  type Authorize,
  AuthorizerValue,
  type Bindings,
  listType,
  mapType,
  type ObjectTypeDeclaration,
  objectType,
  opaqueType,
  type Result,
  type ScalarKind,
  type Type,
  type Value,
  type VariableDeclaration,
} from "../../../cel/index.js";
import { parseJson } from "../../../data/json.js";
import { BadVariable, decodeValue } from "./decode-value.js";

// Types in declarations: `int`, `list(string)`, `map(string, dyn)`, `optional_type(int)`, `kubernetes.Quantity`.

const SCALARS: ReadonlySet<string> = new Set<ScalarKind>([
  "dyn",
  "any",
  "null",
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "timestamp",
  "duration",
]);

/**
 * Parses a type.
 * @param objects names of declared object types; other names are library types
 * @throws BadVariable
 */
function parseType(text: string, objects: ReadonlySet<string>): Type {
  const open = text.indexOf("(");
  if (open === -1) {
    if (SCALARS.has(text)) return { kind: text as ScalarKind };
    return objects.has(text) ? objectType(text) : opaqueType(text);
  }
  if (!text.endsWith(")")) throw new BadVariable(`not a type: ${text}`);
  const name = text.slice(0, open);
  const params = splitParams(text.slice(open + 1, -1)).map((param) => parseType(param, objects));
  const [first, second] = params;
  if (name === "list" && first !== undefined && params.length === 1) return listType(first);
  if (name === "map" && first !== undefined && second !== undefined && params.length === 2) {
    return mapType(first, second);
  }
  return opaqueType(name, ...params);
}

/** Splits at commas outside of parentheses. */
function splitParams(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth += 1;
    else if (text[i] === ")") depth -= 1;
    else if (text[i] === "," && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}

/** The content of a file of variables. */
export interface DeclaredVariables {
  readonly variables: readonly VariableDeclaration[];
  readonly objectTypes: readonly ObjectTypeDeclaration[];
  readonly bindings: Bindings;
}

interface Entry {
  readonly type: string;
  readonly value?: unknown;
  readonly json?: Value;
  readonly file?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly bound?: boolean;
}

/** Reads a file of variables. @throws BadVariable, or the error of reading a file */
export async function readVariables(path: string): Promise<DeclaredVariables> {
  const entries = Object.entries(parseJson(await readFile(path, "utf8")) as Record<string, Entry>);
  const bindings: Record<string, Result> = {};
  const objectTypes: ObjectTypeDeclaration[] = [];
  for (const [name, entry] of entries) {
    if (entry.fields !== undefined) objectTypes.push(objectTypeOf(entry.type, entry.fields));
    if (entry.bound !== false) bindings[name] = await bindingOf(entry, dirname(path));
  }
  const declared = new Set(objectTypes.map(({ name }) => name));
  const variables = entries.map(([name, { type }]) => ({ name, type: parseType(type, declared) }));
  return { variables, objectTypes, bindings };
}

async function bindingOf(entry: Entry, folder: string): Promise<Result> {
  if (entry.user !== undefined) return new AuthorizerValue(authorizeByVerb(entry.user));
  if (entry.file !== undefined) return parseJson(await readFile(resolve(folder, entry.file), "utf8")) as Value;
  if (entry.json !== undefined) return entry.json;
  if (entry.value !== undefined) return decodeValue(entry.value);
  throw new BadVariable("a variable needs one of value, json, file, user, or bound: false");
}

function objectTypeOf(name: string, fields: Readonly<Record<string, string>>): ObjectTypeDeclaration {
  const declared = new Set<string>();
  const types = Object.entries(fields).map(([field, type]): [string, Type] => [
    field,
    parseType(type.replace(" (required)", ""), declared),
  ]);
  return { name, fields: new Map(types) };
}

/** An authorizer for trying out expressions: the verb `err` fails, `deny` is denied, anything else allowed with the question as reason. */
function authorizeByVerb(user: string): Authorize {
  return (question) => {
    if (question.verb === "err") return { allowed: false, reason: "", error: "authz boom" };
    if (question.verb === "deny") return { allowed: false, reason: "denied", error: undefined };
    const { subject, verb } = question;
    const name = subject.kind === "user" ? user : `system:serviceaccount:${subject.namespace}:${subject.name}`;
    const asked =
      question.kind === "path"
        ? `/ /   ${question.path}`
        : `${question.resource}/${question.subresource} ${question.namespace}/${question.name} ${question.group} * `;
    return { allowed: true, reason: `because ${verb} ${asked} user=${name}`, error: undefined };
  };
}
