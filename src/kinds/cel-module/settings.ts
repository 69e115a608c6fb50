/** The settings of Kubewarden's CEL module, as far as this engine runs them; all others are left to the module itself. */

import { RESERVED_WORDS } from "../shared/expressions/reserved-words.js";
import { isMap } from "./request-shape.js";

/** A named value. */
export interface ModuleVariable {
  readonly name: string;
  readonly expression: string;
}

/** A rule. */
export interface ModuleValidation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  /** The HTTP status that the rule's reason stands for. */
  readonly code: number;
}

/** Rules of one policy. */
export interface ModuleSettings {
  readonly variables: readonly ModuleVariable[];
  readonly validations: readonly ModuleValidation[];
}

/** The statuses of reasons, equal to the module's. */
const CODES: ReadonlyMap<unknown, number> = new Map([
  ["", 400],
  ["Invalid", 400],
  ["Unauthorized", 401],
  ["Forbidden", 403],
  ["RequestEntityTooLarge", 413],
]);

/**
 * Reads settings that it fully understands.
 * @returns undefined for any others (unknown keys, parameters, mistakes): the module then reports them
 */
export function readModuleSettings(settings: Readonly<Record<string, unknown>>): ModuleSettings | undefined {
  if (!hasOnly(settings, ["variables", "validations", "failurePolicy"])) return undefined;
  if (![undefined, null, "", "Fail", "Ignore"].includes(settings.failurePolicy as string | null | undefined))
    return undefined;
  const variables = readAll(settings.variables ?? [], readVariable);
  const validations = readAll(settings.validations, readValidation);
  if (variables === undefined || validations === undefined || validations.length === 0) return undefined;
  const names = new Set(variables.map(({ name }) => name));
  return names.size === variables.length ? { variables, validations } : undefined;
}

function readAll<T>(value: unknown, read: (item: Readonly<Record<string, unknown>>) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: T[] = [];
  for (const item of value as readonly unknown[]) {
    const one = isMap(item) ? read(item) : undefined;
    if (one === undefined) return undefined;
    items.push(one);
  }
  return items;
}

function readVariable(item: Readonly<Record<string, unknown>>): ModuleVariable | undefined {
  const { name, expression } = item;
  if (!hasOnly(item, ["name", "expression"]) || typeof name !== "string" || !isExpression(expression)) return undefined;
  const known = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && name !== "params" && !RESERVED_WORDS.has(name);
  return known ? { name, expression } : undefined;
}

function readValidation(item: Readonly<Record<string, unknown>>): ModuleValidation | undefined {
  const { expression, message, messageExpression, reason } = item;
  const code = CODES.get(reason ?? "");
  if (!hasOnly(item, ["expression", "message", "messageExpression", "reason"]) || code === undefined) return undefined;
  if (!isExpression(expression) || !isTextOrAbsent(message)) return undefined;
  if (messageExpression && !isExpression(messageExpression)) return undefined;
  if (!isTextOrAbsent(messageExpression) || message?.trim().includes("\n")) return undefined;
  return { expression, code, ...(message && { message }), ...(messageExpression && { messageExpression }) };
}

/** Whether a map has only these keys. The module's reader accepts keys in any letter case: only exact ones are surely read alike. */
function hasOnly(value: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Whether a value is an expression that both parsers read alike: the module's parser doesn't know names in backticks. */
function isExpression(value: unknown): value is string {
  return isText(value) && !value.includes("`");
}

/** Whether a value is absent, empty, or more than blanks. */
function isTextOrAbsent(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || value === "" || isText(value);
}
