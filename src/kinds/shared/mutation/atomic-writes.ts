/** Apply configurations that write what is replaced as a whole: the API server refuses each (spec mutating-admission-policy.md 7). For `check`. */
import { type Expr, walk } from "../../../cel/index.js";
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import type { GroupVersionKind } from "../../../kubernetes/names.js";
import type { MergeSchemas } from "../../../kubernetes/structured-merge/merge-schemas.js";
import type { TypeReference } from "../../../kubernetes/structured-merge/schema.js";
import { placeIn } from "../doubts/expression-doubts.js";
import type { Expression } from "../expressions/expression.js";
import { OBJECT } from "./mutation-types.js";

interface Write {
  readonly path: string;
  readonly what: string;
  readonly offset: number;
}

/**
 * The warnings about an apply configuration.
 * @param kinds those that the rules name
 */
export function atomicWrites(
  expression: Expression | undefined,
  path: FieldPath,
  kinds: readonly GroupVersionKind[],
  schemas: MergeSchemas,
): readonly FieldError[] {
  const program = expression?.program;
  if (program === undefined) return [];
  const writes = new Map<string, Write>();
  const types = kinds.flatMap(({ group, version, kind }) => schemas.version(group, version)?.typeOf(kind) ?? []);
  walk(program.checked, (node) => {
    if (node.kind !== "struct" || node.typeName !== OBJECT) return;
    for (const type of types) for (const write of writesIn(node, type, "")) writes.set(write.path, write);
  });
  return [...writes.values()].map(({ path: written, what, offset }) => {
    const text = `${written} is ${what} that is replaced as a whole: the API server lets no apply configuration write it`;
    const hint = "change it with a mutation of patchType: JSONPatch";
    return { path, text, hint, mistakes: [{ ...placeIn(program.source, offset), message: text, hint }] };
  });
}

function* writesIn(node: Expr, reference: TypeReference | undefined, path: string): Iterable<Write> {
  const type = reference?.resolve();
  if (type === undefined) return;
  if (node.kind === "list" && type.list !== undefined) {
    for (const element of node.elements) yield* writesIn(element, type.list.element, `${path}[]`);
    return;
  }
  if (node.kind !== "struct") return;
  for (const { field, value, offset } of node.fields) {
    const member = type.map?.member(field);
    const inner = member?.resolve();
    const at = `${path}.${field}`;
    // A value of several forms is not known before it is there.
    const only = [inner?.scalar, inner?.list, inner?.map].filter((form) => form !== undefined).length === 1;
    if (only && inner?.list?.atomic === true) yield { path: at, what: "a list", offset };
    else if (only && inner?.map?.atomic === true) yield { path: at, what: "a map", offset };
    else yield* writesIn(value, member, at);
  }
}
