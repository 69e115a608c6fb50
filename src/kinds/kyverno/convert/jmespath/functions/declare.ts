/** How a function of JMESPath is declared: its arguments are checked before a call is written. */
import * as cel from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import type { Scope } from "../../scope.js";
import type { Term, TermType } from "../../term.js";
import { constant, type Value } from "../value.js";
import type { Argument, QueryFunction, Reference } from "./index.js";

/** What JMESPath calls the types that a value may have. */
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

const isReference = (argument: Argument): argument is Reference => "apply" in argument;

/**
 * Declares a function.
 * @param parameters types in JMESPath's words, such as `array|string, any`; `&` is a reference, and the last one may be repeated if `...` follows it
 */
export function declare(name: string, parameters: string, write: Writer): readonly [string, QueryFunction] {
  const isVariadic = parameters.endsWith("...");
  const types = parameters === "" ? [] : parameters.replace("...", "").split(", ");
  return [
    name,
    (args, scope) => {
      if (isVariadic ? args.length < types.length : args.length !== types.length)
        throw new NotConverted(
          [],
          `${name} takes ${types.length} arguments, and ${args.length} are an error in Kyverno`,
        );
      let by: Reference["apply"] | undefined;
      let fails = false;
      const all = args.map((argument, i) => {
        const type = types[i] ?? types[0] ?? "any";
        if (isReference(argument) !== (type === "&")) throw mistyped(name, type, "a reference", i);
        if (isReference(argument)) {
          by = argument.apply;
          return constant(null);
        }
        const value = checked(name, type, argument, i);
        fails ||= argument.fails || (type !== "any" && !isSure(argument, type));
        return value;
      });
      const none = constant(null);
      const call = { scope, c: all[2] ?? none, d: all[3] ?? none, all, by: by ?? ((item: Term) => item) };
      const made = write(all[0] ?? none, all[1] ?? none, call);
      return fails ? { ...made, fails } : made;
    },
  ];
}

const isSure = (argument: Term, type: string): boolean =>
  !argument.nullable && KINDS[argument.type].every((kind) => type.split("|").includes(kind));

function checked(name: string, type: string, argument: Value, index: number): Value {
  if (type === "any") return argument;
  if (!KINDS[argument.type].some((kind) => type.split("|").includes(kind)))
    throw mistyped(name, type, KINDS[argument.type].join("|"), index);
  return { ...argument, cel: argument.sure ?? argument.cel, nullable: false };
}

const mistyped = (name: string, type: string, found: string, index: number): NotConverted =>
  new NotConverted(
    [],
    `argument ${index + 1} of ${name} is ${found} and not ${type === "&" ? "a reference &…" : type}: an error in Kyverno always`,
  );

/** The text of an argument that has to be known. */
export function knownText(name: string, value: Value, what: string): string {
  const known = value.constant?.value;
  if (typeof known === "string") return known;
  throw new NotConverted([], `${what} of ${name} is converted where it is a text without variables`);
}

/** A name that the given expressions do not have. */
export function unusedName(name: string, ...expressions: readonly cel.Cel[]): cel.Cel {
  let free = name;
  for (let i = 2; expressions.some(({ text }) => new RegExp(`(?<![.\\w])${free}\\b`).test(text)); i++)
    free = `${name}${i}`;
  return cel.primary(free);
}
