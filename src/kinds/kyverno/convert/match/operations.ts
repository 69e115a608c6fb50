/** The operations that a rule judges (Kyverno 1.19.1, pkg/controllers/webhook): without any named, all that the rule can judge. */
import { isObject, type JsonObject, member, text } from "../../../../kubernetes/object.js";
import { NotConverted } from "../not-converted.js";
import type { Block } from "./autogen.js";
import { parseKind } from "./kinds.js";

const ALL = ["CREATE", "UPDATE", "DELETE", "CONNECT"] as const;
/** The conditions that let only some operations through, and whether those that they name. */
const OPERATORS: ReadonlyMap<string, boolean> = new Map([
  ...["Equals", "Equal", "In", "AnyIn"].map((operator) => [operator, true] as const),
  ...["NotEquals", "NotEqual", "NotIn", "AllNotIn", "AnyNotIn"].map((operator) => [operator, false] as const),
]);
const OPERATION = /^\{\{\s*request\.operation\s*(?:\|\|\s*'[^']*'\s*)?\}\}$/;

/** The operations of each block. A pattern never judges a deletion, and only subresources are connected to. */
export function operationsOf(rule: JsonObject, blocks: readonly Block[]): readonly (readonly string[])[] {
  const validate = member(rule, "validate");
  // A loop over what a deletion does not have judges nothing.
  const loops = member(validate, "foreach");
  const judgesDeletions =
    ["deny", "cel"].some((key) => member(validate, key) !== undefined) ||
    (Array.isArray(loops) && loops.some((each) => !text(each, "list").includes("request.object")));
  const wanted = wantedOperations(rule);
  const found = blocks.map(({ resources, kinds }) => {
    const named = member(resources, "operations");
    const given = Array.isArray(named) && named.length > 0 ? named : undefined;
    const connects = kinds.some((kind) => parseKind(kind)?.subresource !== "");
    return ALL.filter((each) => {
      if (each === "DELETE" && !judgesDeletions && validate !== undefined) return false;
      if (given !== undefined) return given.includes(each);
      if (isObject(member(rule, "mutate")) || each === "CONNECT")
        return each !== "DELETE" && (each !== "CONNECT" || connects);
      return wanted.has(each);
    });
  });
  if (found.every((each) => each.length === 0))
    throw new NotConverted(
      ["match"],
      "patterns and podSecurity never judge a deletion, so this rule judges nothing: write deny or cel",
    );
  return found;
}

/** The operations that preconditions let through. */
function wantedOperations(rule: JsonObject): ReadonlySet<string> {
  const preconditions = member(rule, "preconditions");
  const all = Array.isArray(preconditions) ? preconditions : member(preconditions, "all");
  const left = new Set<string>(ALL);
  for (const condition of Array.isArray(all) ? all : []) {
    const keeps = OPERATORS.get(text(condition, "operator"));
    const value = member(condition, "value");
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (keeps === undefined || !OPERATION.test(text(condition, "key"))) continue;
    // Of a list, AnyNotIn and the like demand nothing that a single operation could not meet.
    if (!values.every((each) => typeof each === "string" && /^[A-Z]+$/.test(each))) continue;
    if (!keeps && values.length > 1 && text(condition, "operator") === "NotEquals") continue;
    for (const each of ALL) if (values.includes(each) !== keeps) left.delete(each);
  }
  return left.size === 0 ? new Set(ALL) : left;
}
