/** How a function of JMESPath is declared: its arguments are checked before a call is written. */
import { type Cel, call, conditional, filled, isType, item, list, loop, primary, relation } from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import type { Scope } from "../../scope.js";
import type { Term, TermType } from "../../term.js";
import { constant, demanded, known, MAPS, shared, type Value } from "../value.js";

/** `&expression`: what a function such as `sort_by` or `map` makes of each item. */
export interface Reference {
  /** The expression with the item as its current value; a missing key is null. */
  readonly apply: (item: Term) => Term;
}

/** An argument. A missing key in it is null. */
export type Argument = Reference | Term;

/**
 * Writes a call of a function as CEL.
 * @throws NotConverted where these arguments have no counterpart
 */
export type QueryFunction = (args: readonly Argument[], scope: Scope) => Term;

/** The names that JMESPath has for the types that a value may have. */
const KINDS: Readonly<Record<TermType, readonly string[]>> = {
  bool: ["boolean"],
  double: ["number"],
  dyn: ["array", "boolean", "null", "number", "object", "string"],
  int: ["number"],
  list: ["array"],
  map: ["object"],
  null: ["null"],
  number: ["number"],
  scalar: ["boolean", "number", "string"],
  string: ["string"],
};

/** The rest of a call. */
export interface Call {
  readonly scope: Scope;
  readonly c: Value;
  readonly d: Value;
  readonly all: readonly Value[];
  /** The reference `&expression` among the arguments. */
  readonly by: Reference["apply"];
}

/** Writes a call with arguments that were checked. An argument that must not be null is an error where it is missing. */
export type Writer = (a: Value, b: Value, call: Call) => Value;

/**
 * Declares a function.
 * @param parameters types in JMESPath's words, such as `array|string, any`; `&` is a reference, and the last one may be repeated if `...` follows it
 */
export function declare(name: string, parameters: string, write: Writer): readonly [string, QueryFunction] {
  const isVariadic = parameters.endsWith("...");
  const types = parameters === "" ? [] : parameters.replace("...", "").split(", ");
  const none = constant(null);
  return [
    name,
    (args, scope) => {
      if (isVariadic ? args.length < types.length : args.length !== types.length)
        throw new NotConverted(
          [],
          `${name} takes ${types.length} arguments, and ${args.length} are an error in Kyverno`,
        );
      let by: Reference["apply"] = (item) => item;
      let fails = false;
      const all = args.map((argument, i) => {
        const type = types[i] ?? types[0] ?? "any";
        if ("apply" in argument && type === "&") {
          by = argument.apply;
          return none;
        }
        if ("apply" in argument || !isPossible(argument, type)) throw mistyped(name, type, argument, i);
        fails ||= argument.fails || !isCertain(argument, type);
        return type === "any" ? argument : demandedAs(type, sure(argument));
      });
      const made = write(all[0] ?? none, all[1] ?? none, { scope, c: all[2] ?? none, d: all[3] ?? none, all, by });
      return fails ? { ...made, fails } : made;
    },
  ];
}

const isPossible = ({ type: given }: Term, type: string): boolean =>
  type === "any" || KINDS[given].some((kind) => type.split("|").includes(kind));
const isCertain = ({ type: given, nullable }: Term, type: string): boolean =>
  type === "any" || (!nullable && KINDS[given].every((kind) => type.split("|").includes(kind)));

function mistyped(name: string, type: string, argument: Argument, index: number): NotConverted {
  const found = "apply" in argument ? "a reference" : KINDS[argument.type].join("|");
  return new NotConverted(
    [],
    `argument ${index + 1} of ${name} is ${found} and not ${type}: an error in Kyverno always`,
  );
}

/** An argument that must not be null. */
export const sure = (value: Value): Value => ({
  ...value,
  cel: value.checked ?? value.sure ?? value.cel,
  nullable: false,
});

/** An argument of a type that is not known, where CEL takes more types than Kyverno does. */
function demandedAs(type: string, argument: Value): Value {
  const { cel: value, type: given, trusted } = argument;
  if ((given !== "dyn" && given !== "scalar") || trusted) return argument;
  if (type === "object") return MAPS.test(value.text) ? argument : { ...argument, cel: demanded(value, "map") };
  if (type !== "string|number") return argument;
  const isOther = relation("!=", call("type", primary("v")), primary("bool"));
  return { ...argument, cel: item(loop(list([value]), "filter", "v", isOther), 0) };
}

/** A long value as a variable. */
export const named = (name: string, value: Value, { draft, inline, depth }: Scope): Value =>
  inline || depth > 0 || value.cel.text.length <= 30 ? value : { ...value, cel: draft.variable(name, value.cel, []) };

/** An expression of arguments A, B, C: one that it has several times becomes a variable if it is long. */
export const expression = (template: string, a: Value, b: Value, { scope, c }: Pick<Call, "c" | "scope">): Cel => {
  const fill = (A: Cel): Cel => filled(template, { A, B: b.cel, C: c.cel });
  return template.split(/\bA\b/).length > 2 ? shared(a.cel, scope, fill) : fill(a.cel);
};

/** A function that is one expression of its arguments A, B, C. */
export const simple = (
  name: string,
  parameters: string,
  type: TermType,
  template: string,
  more: Partial<Value> = {},
): readonly [string, QueryFunction] =>
  declare(name, parameters, (a, b, call) => known(expression(template, a, b, call), type, more));

/** The expression for a list or the one for anything else: the value's type decides in the evaluation, where it is not known. */
export const byType = (value: Value, scope: Scope, ofList: (value: Cel) => Cel, ofOther: (value: Cel) => Cel): Cel => {
  if (value.type === "list") return ofList(value.cel);
  if (value.type !== "dyn") return ofOther(value.cel);
  return shared(value.cel, scope, (of) => conditional(isType(of, "list"), ofList(of), ofOther(of)));
};

/** The text of an argument that has to be known. */
export function knownText(name: string, value: Value, what: string): string {
  const text = value.constant?.value;
  if (typeof text === "string") return text;
  throw new NotConverted([], `${what} of ${name} is converted where it is a text without variables`);
}
