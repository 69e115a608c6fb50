/**
 * `cel`: evaluates CEL expressions on the command line, one or many.
 */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import {
  type Bindings,
  behaviourOf,
  CelError,
  createEnvironment,
  DYN,
  type Environment,
  explain,
  formatLongType,
  hintText,
  isKubernetesVersion,
  type KubernetesVersion,
  NEWEST_VERSION,
  type Result,
  type Value,
} from "../cel/index.js";
import { type CommandIo, say, UsageError } from "../data/command-io.js";
import { parseJson } from "../data/json.js";
import { escapedLines, printable } from "../data/printable.js";
import { explainedValue } from "../kinds/explanation/index.js";
import { encodeValue } from "../kinds/shared/encode-value.js";
import { type DeclaredVariables, readVariables } from "../offline/cases/cel/variables.js";
import { celBatchCommand } from "../offline/cases/cel-batch.js";
import type { LineStreams } from "../offline/cases/json-lines.js";
import { partLines } from "./explain/expression-lines.js";
import { kubernetesVersion } from "./kubernetes-version.js";
import { isTerminal } from "./look/paint.js";

/** Parsed arguments of `cel`. */
export interface CelArguments {
  /** The expression; absent with `batch`, and where it is read from standard input or typed at a prompt. */
  readonly expression?: string;
  /** A JSON file: an object whose members are the variables, all dyn. */
  readonly vars?: string;
  /** A file that declares variables with types and values (see {@link readVariables}). */
  readonly variables?: string;
  /** `kubernetes-1.37`, another minor, or `standard`; default that of the version. */
  readonly environment?: string;
  /** The Kubernetes whose API server evaluates; default that of the environment, or 1.37. */
  readonly kubernetesVersion?: string;
  /** Read `{"expr": …}` lines from standard input. */
  readonly batch?: boolean;
  /** Print the expression with the value of every part of it. */
  readonly explain?: boolean;
  /** With `batch`: how many evaluations to time. */
  readonly bench?: number;
  /** Whether a prompt keeps a history; default true. */
  readonly history?: boolean;
}

/** Runs the command. @returns the exit code: 0, or 1 when the expression fails, or 2 for bad arguments */
export async function celCommand(args: CelArguments, streams: CommandIo): Promise<number> {
  const release = args.kubernetesVersion === undefined ? undefined : kubernetesVersion(args.kubernetesVersion);
  const name = args.environment ?? `kubernetes-${release ?? NEWEST_VERSION}`;
  const base = environmentOf(name, release);
  if (base === undefined) {
    say(streams.stderr, `unknown environment: ${args.environment} (kubernetes-1.28 … kubernetes-1.38, standard)`);
    return 2;
  }
  const { bindings, ...declarations } = await declared(args);
  if (args.batch !== true && args.expression === undefined && isTerminal(streams.stdin)) {
    const { runPrompt } = await import("./cel/prompt/index.js");
    const history = args.history !== false;
    return runPrompt({ environmentOf, environment: name, bindings, ...declarations, history }, streams);
  }
  const environment = base.extend(declarations);
  if (args.batch === true) return celBatchCommand({ environment, bindings, bench: args.bench }, streams);
  // Piped in, it may have any length, and needs no quoting for the shell.
  const expression = args.expression ?? (await text(streams.stdin));
  if (expression.trim() === "") {
    streams.stderr.write("an expression is needed: as an argument, on standard input, or --batch\n");
    return 2;
  }
  const run = args.explain === true ? runExplain : runOne;
  return run(environment, bindings, expression, streams);
}

function environmentOf(name: string, release?: KubernetesVersion): Environment | undefined {
  if (name === "standard") return createEnvironment({ flavour: "standard" });
  const version = /^kubernetes-(.*)$/.exec(name)?.[1] ?? "";
  const behaviour = release && { behaviour: behaviourOf(release) };
  return isKubernetesVersion(version) ? createEnvironment({ flavour: "kubernetes", version, ...behaviour }) : undefined;
}

async function declared(args: CelArguments): Promise<DeclaredVariables> {
  if (args.variables !== undefined) return readVariables(args.variables);
  const bindings = args.vars === undefined ? {} : await bindingsOf(args.vars);
  return { variables: Object.keys(bindings).map((name) => ({ name, type: DYN })), objectTypes: [], bindings };
}

async function bindingsOf(file: string): Promise<Bindings> {
  const content = await readFile(file, "utf8").catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  try {
    return parseJson(content) as Bindings;
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : "is not JSON"}`, { cause: error });
  }
}

function runOne(environment: Environment, bindings: Bindings, expression: string, { stdout }: LineStreams): number {
  const compiled = environment.compile(expression);
  if (!compiled.ok) {
    const hint = hintText(environment.hints(expression, compiled, undefined, true));
    stdout.write(`${JSON.stringify({ error: compiled.text, ...(hint !== undefined && { hint }) })}\n`);
    return 1;
  }
  const { result } = compiled.program.evaluate(bindings);
  if (result instanceof CelError) {
    stdout.write(`${JSON.stringify({ error: result.message })}\n`);
    return 1;
  }
  const value = encodeValue(result as Value);
  stdout.write(`${JSON.stringify({ value, type: formatLongType(compiled.program.type) })}\n`);
  return 0;
}

function runExplain(environment: Environment, bindings: Bindings, expression: string, { stdout }: LineStreams): number {
  const compiled = environment.compile(expression, { trace: true });
  if (!compiled.ok) {
    const hint = hintText(environment.hints(expression, compiled, undefined, true));
    stdout.write(`${escapedLines(compiled.text)}\n${hint === undefined ? "" : `hint: ${printable(hint)}\n`}`);
    return 1;
  }
  const { program } = compiled;
  const values = new Map<number, Result>();
  const { result } = program.evaluate(bindings, { onValue: (id, value) => values.set(id, value) });
  values.set(program.parsed.expr.id, result as Result);
  stdout.write(`${partLines(explainedValue(explain(program.parsed, values))).join("\n")}\n`);
  return result instanceof CelError ? 1 : 0;
}
