/** One evaluation of one mutation (spec mutating-admission-policy.md 5 to 7). */
import {
  type Behaviour,
  type Bindings,
  CelError,
  ListSum,
  MapValue,
  Optional,
  type Result,
  type Value,
  Waiting,
} from "../../../cel/index.js";
import { quote } from "../../../data/go/quote.js";
import type { GoType } from "../../../kubernetes/go-types/go-type.js";
import type { PatchOperation } from "../../../kubernetes/json-patch/operation.js";
import type { PatchValue } from "../../../kubernetes/structured-merge/patch-value.js";
import { evaluateGroup, type GroupInputs } from "../expressions/evaluation-group.js";
import type { CompiledMutation, PatchType } from "./compile-mutation.js";
import { Conversion, type Provenance } from "./conversion.js";
import { JsonPatchVal, ObjectVal } from "./mutation-types.js";
import { typedValues, type VariableTypes } from "./typed-values.js";

/** Most mistakes that a message shows. */
const MAX_MISTAKES = 100;

/**
 * The errors of type names in an `Object`: each must be that of its field, through lists and maps
 * (spec mutating-admission-policy.md 5). `undefined` when all are right.
 */
function typeNameMistakes(object: ObjectVal): string | undefined {
  const mistakes: string[] = [];
  /** Lists and maps seen, since an expression may name them many times. */
  const seen = new Map<object, string>();
  const check = (of: Value, path: string): void => {
    const value = literalOf(of);
    if (mistakes.length >= MAX_MISTAKES) return;
    if (value instanceof ObjectVal) {
      if (value.typeName !== path) {
        const expected = `expected ${quote(path, false)}, which matches field name path from root Object type`;
        mistakes.push(`unexpected type name ${quote(value.typeName, false)}, ${expected}`);
      }
      for (const [field, inner] of value.members) check(inner, `${path}.${field}`);
      return;
    }
    if (value instanceof ListSum) return;
    const isList = Array.isArray(value);
    if (!isList && !(value instanceof MapValue)) return;
    if (seen.get(value) === path) return;
    seen.set(value, path);
    for (const item of isList ? (value as readonly Value[]) : Array.from(value.entries(), ([, each]) => each)) {
      check(item, path);
    }
  };
  check(object, object.typeName);
  return mistakes.length === 0 ? undefined : mistakes.join("\n");
}

/** The literal inside of optionals; other objects are not searched. */
function literalOf(value: Value): Value {
  let content: Value = value;
  while (content instanceof Optional && content.value !== undefined) content = content.value;
  return content instanceof ObjectVal ? value : content;
}

/** The change that a mutation asks for. */
export type Mutation =
  | { readonly kind: "json-patch"; readonly operations: readonly PatchOperation[] }
  | { readonly kind: "apply-configuration"; readonly configuration: { readonly [field: string]: PatchValue } }
  /** The server's message, without the prefix of all messages of a policy. */
  | { readonly kind: "error"; readonly message: string };

/** The inputs of a mutation's expression: `bindings` has the object as earlier mutations have left it; its `variables` are new for each mutation. */
export type MutationInputs = Omit<GroupInputs, "shared">;

/**
 * Evaluates a mutation's expression on a budget of its own. {@link Waiting} when an answer has not arrived, or when others must have their turn: the
 * attempt is then repeated as a whole, and gives the same value again where it had it already.
 */
export function valueOfMutation({ expressions }: CompiledMutation, inputs: MutationInputs): Result | Waiting {
  const [expression] = expressions;
  if (expression.program === undefined) return new CelError(expression.error ?? "");
  const { attempt } = inputs;
  const group = evaluateGroup(expressions, { ...inputs, shared: undefined }, attempt.costs.evaluation);
  if (group instanceof CelError) return group;
  return group.results[0] ?? Waiting.INSTANCE;
}

/**
 * The change in the value of a mutation's expression; `bindings` are those of its evaluation.
 * @param types the structs that objects are in the server: such values are not JSON (default: all are)
 */
export function mutationOf(
  patchType: PatchType,
  value: Result,
  bindings: Bindings,
  types: VariableTypes = ALL_JSON,
  behaviour?: Behaviour,
): Mutation {
  if (value instanceof CelError) return failed(value.message);
  const conversion = new Conversion(provenanceOf(bindings, types), behaviour);
  return patchType === "JSONPatch" ? jsonPatch(value, conversion) : configuration(value, conversion);
}

const ALL_JSON: VariableTypes = { object: undefined, oldObject: undefined };

const failed = (message: string): Mutation => ({ kind: "error", message });

function jsonPatch(result: Value, conversion: Conversion): Mutation {
  if (!Array.isArray(result)) return failed("type mismatch: JSONPatchType.expression should evaluate to array");
  const operations: PatchOperation[] = [];
  for (const item of result as readonly Value[]) {
    if (!(item instanceof JsonPatchVal)) {
      return failed("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch");
    }
    const { op, path, from } = item;
    const value = item.value === undefined ? undefined : jsonValue(item.value, conversion);
    if (value instanceof CelError) return failed(value.message);
    operations.push({ op, path, from, value });
  }
  return { kind: "json-patch", operations };
}

function jsonValue(value: Value, conversion: Conversion): unknown | CelError {
  const mistakes = value instanceof ObjectVal ? typeNameMistakes(value) : undefined;
  if (mistakes !== undefined) return new CelError(`type mismatch: ${mistakes}`);
  const json = conversion.json(value);
  if (!(json instanceof CelError)) return json;
  return new CelError(`JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${json.message}`);
}

function configuration(result: Value, conversion: Conversion): Mutation {
  if (!(result instanceof ObjectVal)) return failed("unsupported return type from ApplyConfiguration expression");
  const mistakes = typeNameMistakes(result);
  if (mistakes !== undefined) return failed(`type mismatch: ${mistakes}`);
  const converted = conversion.configuration(result);
  if (!(converted instanceof CelError)) return { kind: "apply-configuration", configuration: converted };
  if (converted.code === "too-large") return failed(converted.message);
  return failed("invalid return type: *dynamic.ObjectVal");
}

/** The types of the request and its objects; computed only on demand. */
function provenanceOf(bindings: Bindings, types: VariableTypes): Provenance {
  let typed: ReadonlyMap<unknown, GoType> | undefined;
  return {
    typeOf: (value) => {
      typed ??= typedValues(bindings, types);
      return typed.get(value);
    },
  };
}
