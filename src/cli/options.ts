/** Parses options to typed values: flag, else environment, else default, with one clear error for invalid text. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Environment, UsageError } from "../data/command-io.js";
import type { OptionDefinition, OptionKind } from "./option-definition.js";
import { SERVE_OPTIONS, type WrittenOption } from "./option-definitions.js";

type CamelCase<Flag extends string> = Flag extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Flag;
type ValueOf<Kind> = Kind extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Kind extends "string"
    ? string
    : Kind extends "flag" | "switch"
      ? boolean
      : number;
type MissingValue<Option> = Option extends { readonly default: unknown } | { readonly kind: "flag" | "switch" }
  ? never
  : undefined;

/** The values of all options of `serve`, by camel-cased flag. */
export type ServeValues = {
  readonly [Option in WrittenOption as CamelCase<Option["flag"]>]: ValueOf<Option["kind"]> | MissingValue<Option>;
};

/** The values of a command's options, a subset of those. */
export type OptionValues = Partial<ServeValues> & { readonly kubernetes?: boolean };

/** The defaults of `serve`. */
export const SERVE_DEFAULTS = Object.fromEntries(
  SERVE_OPTIONS.map((option) => [camelCase(option.flag), option.default]),
) as ServeValues;

const HIGHEST_PORT = 65_535;

/** Adds an option to a command, with its variable and default in the help. */
export function addOption(command: Command, definition: OptionDefinition): Option {
  const { flag, kind, description } = definition;
  const bare = kind === "flag" || kind === "switch";
  const option = new Option(bare ? `--${flag}` : `--${flag} <${placeholder(kind)}>`, description);
  if (!bare) option.argParser((text: string) => parsed(kind, text, (reason) => new InvalidArgumentError(reason)));
  const notes = [`env: ${definition.env}`];
  if (definition.default !== undefined && definition.default !== false) notes.unshift(`default: ${definition.default}`);
  option.description = `${description} (${notes.join(", ")})`;
  command.addOption(option);
  return option;
}

/**
 * The values of a command's options by camel-cased flag name.
 * @throws UsageError for an invalid environment variable
 */
export function optionValues(
  command: Command,
  definitions: readonly OptionDefinition[],
  env: Environment,
): OptionValues {
  const values: Record<string, unknown> = {};
  for (const { flag, env: variable, kind, default: fallback } of definitions) {
    const name = camelCase(flag);
    const given: unknown = command.getOptionValue(name);
    const text = env[variable];
    if (given !== undefined) values[name] = given;
    else if (text !== undefined) {
      values[name] = parsed(kind, text, (reason) => new UsageError(`environment variable ${variable}: ${reason}`));
    } else if (fallback !== undefined) values[name] = fallback;
  }
  return values as OptionValues;
}

/** {@link parse}, with errors of the given kind. */
function parsed(kind: OptionKind, text: string, error: (reason: string) => Error): unknown {
  try {
    return parse(kind, text);
  } catch (cause) {
    throw error(cause instanceof Error ? cause.message : "unusable");
  }
}

function parse(kind: OptionKind, text: string): unknown {
  if (typeof kind === "object") {
    if (kind.choices.includes(text)) return text;
    throw new Error(`'${text}' is not one of ${kind.choices.join(", ")}`);
  }
  switch (kind) {
    case "string":
      return text;
    case "switch":
      return text !== "";
    case "flag":
      return parseFlag(text);
    case "port":
      return wholeNumber(text, 0, HIGHEST_PORT);
    case "count":
      return wholeNumber(text, 0, Number.MAX_SAFE_INTEGER);
    case "integer":
      return wholeNumber(text, 1, Number.MAX_SAFE_INTEGER);
    case "seconds":
      return wholeNumber(text, 1, 86_400);
    case "factor":
      return factor(text);
  }
}

/** Kubewarden demands `true` or `false`; `1` and `0` are accepted too, because they are common. */
function parseFlag(text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new Error(`'${text}' is not true or false`);
}

function wholeNumber(text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value >= least && value <= most) return value;
  throw new Error(`'${text}' is not a whole number from ${least} to ${most}`);
}

/**
 * Limits of the factor: a larger one would hold the main thread longer than an expression may, whatever it costs; a smaller one would refuse policies
 * that the API server has stored.
 */
const [LEAST_FACTOR, MOST_FACTOR] = [0.01, 100];

function factor(text: string): number {
  const value = Number(text);
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text) && value >= LEAST_FACTOR && value <= MOST_FACTOR) return value;
  throw new Error(`'${text}' is not a number from ${LEAST_FACTOR} to ${MOST_FACTOR}`);
}

function placeholder(kind: OptionKind): string {
  if (typeof kind === "object") return kind.choices.join("|");
  const names = { string: "text", integer: "number", count: "number", factor: "number" };
  return { ...names, port: "port", seconds: "seconds", flag: "", switch: "" }[kind];
}

/** The name of a flag's value. */
export function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
