/** A session of the prompt, without a terminal: lines in, text out. */
import {
  type Bindings,
  CelError,
  type CompileFailure,
  type DeclaredNames,
  DYN,
  type Environment,
  type EvaluationOptions,
  explain,
  formatLongType,
  hintText,
  type ObjectTypeDeclaration,
  type Program,
  type Result,
  type Type,
  typeNameOf,
  type Value,
  type VariableDeclaration,
} from "../../../cel/index.js";
import { escapedLines, printable } from "../../../data/printable.js";
import { didYouMean } from "../../../data/suggest.js";
import { explainedValue, valueText } from "../../../kinds/explanation/index.js";
import { partLines } from "../../explain/expression-lines.js";
import type { Paint } from "../../look/paint.js";
import { complete } from "./completion.js";
import { LoadError, loadVariables } from "./load-variables.js";

/** Milliseconds of an evaluation, so that the prompt returns soon. */
const TIME_LIMIT_MS = 2000;
/** Most printed characters of a value. */
const VALUE_CHARACTERS = 4000;
/** Most characters of a value in lists of variables. */
const SHORT_CHARACTERS = 80;
/** Most variables. */
const MOST_VARIABLES = 1000;
const NAME = /^[a-zA-Z_]\w*$/;

/** Commands with their meanings. */
const COMMANDS: readonly (readonly [command: string, meaning: string])[] = [
  [":help", "this list"],
  [":type EXPR", "the type of an expression, which is not evaluated"],
  [":explain EXPR", "the value of every part of an expression"],
  [":let NAME = EXPR", "a variable; `it` is always the last value"],
  [":load FILE [NAME]", "variables from JSON or YAML: an object, an AdmissionReview, or a map of names to values"],
  [":vars", "the variables that there are"],
  [":environment NAME", "kubernetes-1.28 to kubernetes-1.38, or standard"],
  [":quit", "the end; so is Ctrl+D"],
];

/** Options of a session. */
export interface SessionOptions {
  /** An environment by name; undefined for an unknown name. */
  readonly environmentOf: (name: string) => Environment | undefined;
  readonly environment: string;
  readonly variables: readonly VariableDeclaration[];
  readonly objectTypes: readonly ObjectTypeDeclaration[];
  readonly bindings: Bindings;
  readonly paint: Paint;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** The reply to an input. */
export interface Reply {
  readonly text: string;
  readonly quit?: boolean;
}

/** One prompt. */
export class PromptSession {
  readonly #options: SessionOptions;
  readonly #types = new Map<string, Type>();
  readonly #values: Record<string, Bindings[string]> = Object.create(null) as Record<string, Bindings[string]>;
  readonly #now: () => number;
  #base: Environment;
  #made: Environment | undefined;
  #names: DeclaredNames | undefined;

  /** @throws Error for an unknown environment */
  constructor(options: SessionOptions) {
    const base = options.environmentOf(options.environment);
    if (base === undefined) throw new Error(`unknown environment: ${options.environment}`);
    this.#options = options;
    this.#base = base;
    this.#now = options.now ?? (() => performance.now());
    for (const { name, type } of options.variables) this.#types.set(name, type);
    Object.assign(this.#values, options.bindings);
  }

  /** The answer to a whole input: an expression, or a command. Never throws. */
  answer(input: string): Reply {
    const text = input.trim();
    if (text === "") return { text: "" };
    try {
      return text.startsWith(":") ? this.#command(text) : { text: this.#evaluate(text) };
    } catch (error) {
      return { text: this.#bad(error instanceof Error ? error.message : String(error)) };
    }
  }

  /** Completion for `readline`. */
  readonly complete = (line: string): [string[], string] => {
    this.#names ??= this.#environment.names();
    return complete(line, {
      names: this.#names,
      commands: COMMANDS.map(([command]) => command.split(" ")[0] ?? ""),
      value: (name) => this.#values[name] as Value | undefined,
    });
  };

  get #environment(): Environment {
    this.#made ??= this.#base.extend({
      variables: Array.from(this.#types, ([name, type]) => ({ name, type })),
      objectTypes: this.#options.objectTypes,
    });
    return this.#made;
  }

  #command(text: string): Reply {
    const [, word = "", rest = ""] = /^:(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
    switch (word) {
      case "help":
      case "h":
      case "?":
        return { text: this.#help() };
      case "quit":
      case "q":
      case "exit":
        return { text: "", quit: true };
      case "type":
      case "t":
        return { text: this.#type(rest) };
      case "explain":
        return { text: this.#explain(rest) };
      case "let":
        return { text: this.#let(rest) };
      case "load":
        return { text: this.#load(rest) };
      case "vars":
        return { text: this.#vars() };
      case "environment":
      case "env":
        return { text: this.#setEnvironment(rest.trim()) };
      default: {
        const words = COMMANDS.map(([command]) => command.split(" ")[0] ?? "");
        return {
          text: this.#bad(`there is no command :${printable(word)}${didYouMean(`:${word}`, words)}; :help lists them`),
        };
      }
    }
  }

  #help(): string {
    const width = Math.max(...COMMANDS.map(([command]) => command.length));
    const lines = COMMANDS.map(
      ([command, meaning]) => `  ${this.#options.paint("name", command.padEnd(width))}  ${meaning}`,
    );
    return [
      "An expression gives its value and type. Tab completes; an open bracket goes on in the next line.",
      ...lines,
    ].join("\n");
  }

  #evaluate(source: string): string {
    const compiled = this.#environment.compile(source);
    if (!compiled.ok) return this.#compileError(source, compiled);
    const { result } = compiled.program.evaluate(this.#bindings, this.#limits());
    if (result instanceof CelError) return this.#evaluationError(compiled.program, result);
    this.#bind("it", compiled.program.type, result as Value);
    return this.#shown(result as Value, compiled.program.type);
  }

  #type(source: string): string {
    if (source === "") return this.#bad(":type needs an expression");
    const checked = this.#environment.check(source);
    return checked.ok ? this.#options.paint("name", formatLongType(checked.type)) : this.#compileError(source, checked);
  }

  #explain(source: string): string {
    if (source === "") return this.#bad(":explain needs an expression");
    const compiled = this.#environment.compile(source, { trace: true });
    if (!compiled.ok) return this.#compileError(source, compiled);
    const { program } = compiled;
    const values = new Map<number, Result>();
    const onValue = (id: number, value: Result): unknown => values.set(id, value);
    const { result } = program.evaluate(this.#bindings, { ...this.#limits(), onValue });
    values.set(program.parsed.expr.id, result as Result);
    return partLines(explainedValue(explain(program.parsed, values))).join("\n");
  }

  #let(text: string): string {
    const [, name = "", source = ""] = /^([^\s=]*)\s*=\s*([\s\S]*)$/.exec(text) ?? [];
    if (!NAME.test(name) || source === "") return this.#bad("write :let NAME = EXPR");
    const compiled = this.#environment.compile(source);
    if (!compiled.ok) return this.#compileError(source, compiled);
    const { result } = compiled.program.evaluate(this.#bindings, this.#limits());
    if (result instanceof CelError) return this.#evaluationError(compiled.program, result);
    if (!this.#bind(name, compiled.program.type, result as Value)) return this.#bad(TOO_MANY);
    return `${name} = ${this.#shown(result as Value, compiled.program.type)}`;
  }

  #load(text: string): string {
    const [, file = "", name] = /^(\S+|"[^"]+")(?:\s+(\S+))?$/.exec(text.trim()) ?? [];
    if (file === "") return this.#bad("write :load FILE, or :load FILE NAME");
    try {
      const loaded = loadVariables(file.replace(/^"(.*)"$/, "$1"), name);
      const bound = loaded.filter(([variable, value]) => this.#bind(variable, DYN, value));
      if (bound.length < loaded.length) return this.#bad(TOO_MANY);
      return bound
        .map(([variable, value]) => `${printable(variable)} = ${valueText(value, SHORT_CHARACTERS)}`)
        .join("\n");
    } catch (error) {
      if (error instanceof LoadError) return this.#bad(printable(error.message));
      throw error;
    }
  }

  #vars(): string {
    if (this.#types.size === 0) return "There are no variables. :let and :load make some.";
    return Array.from(this.#types, ([name, type]) => {
      const value = this.#values[name];
      const shown = value === undefined ? "" : ` = ${valueText(value as Result, SHORT_CHARACTERS)}`;
      return `${this.#options.paint("strong", printable(name))}: ${formatLongType(type)}${shown}`;
    }).join("\n");
  }

  #setEnvironment(name: string): string {
    if (name === "") return this.#bad("write :environment kubernetes-1.37, or standard");
    const base = this.#options.environmentOf(name);
    if (base === undefined)
      return this.#bad(`unknown environment: ${printable(name)} (kubernetes-1.28 … kubernetes-1.38, standard)`);
    this.#base = base;
    this.#forget();
    return `environment ${name}`;
  }

  #bind(name: string, type: Type, value: Value): boolean {
    if (!this.#types.has(name) && this.#types.size >= MOST_VARIABLES) return false;
    this.#types.set(name, type);
    this.#values[name] = value;
    this.#forget();
    return true;
  }

  #forget(): void {
    this.#made = undefined;
    this.#names = undefined;
  }

  get #bindings(): Bindings {
    return this.#values;
  }

  /** The cost limit of Kubernetes' own expressions holds as well. */
  #limits(): EvaluationOptions {
    return { deadline: { at: this.#now() + TIME_LIMIT_MS, now: this.#now } };
  }

  #shown(value: Value, type: Type): string {
    const declared = formatLongType(type);
    const known = declared === "dyn" ? `dyn, ${typeNameOf(value)}` : declared;
    return `${valueText(value, VALUE_CHARACTERS)} ${this.#options.paint("quiet", `: ${known}`)}`;
  }

  #compileError(source: string, failure: CompileFailure): string {
    const hint = hintText(this.#environment.hints(source, failure, undefined, true));
    return [
      this.#bad(escapedLines(failure.text)),
      ...(hint === undefined ? [] : [this.#options.paint("doubt", `hint: ${printable(hint)}`)]),
    ].join("\n");
  }

  #evaluationError(program: Program, error: CelError): string {
    const text = this.#bad(`error: ${printable(error.message)}`);
    const place = program.locate(this.#bindings, this.#limits());
    if (place === undefined) return text;
    const line = program.source.split("\n")[place.line - 1] ?? "";
    const before = [...line]
      .slice(0, place.column - 1)
      .join("")
      .replace(/[^\t]/g, " ");
    return `${text}\n | ${printable(line)}\n | ${before}^`;
  }

  #bad(text: string): string {
    return this.#options.paint("bad", text);
  }
}

const TOO_MANY = `there are ${MOST_VARIABLES} variables already`;
