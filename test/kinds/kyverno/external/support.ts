/** Evaluates one expression that asks the world. */
import { CelError, createEnvironment, DYN, type Environment, type Result, Waiting } from "../../../../src/cel/index.js";
import {
  externalBindings,
  externalFunctions,
  externalVariables,
} from "../../../../src/kinds/kyverno/external/index.js";
import type { KyvernoState } from "../../../../src/kinds/kyverno/state.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import type { ExternalData } from "../../../../src/world/external.js";
import { NO_EXTERNAL } from "../../../../src/world/external.js";
import { RequestWorld } from "../../../../src/world/request-world.js";
import { FileResources } from "../../../../src/world/resources/file-resources.js";

const environments: readonly Environment[] = [false, true].map((namespaced) =>
  createEnvironment({
    flavour: "kubernetes",
    version: "1.36",
    functions: externalFunctions(namespaced),
    variables: [...externalVariables, { name: "object", type: DYN }],
  }),
);

/** Where an expression is evaluated. */
export interface Circumstances {
  readonly external?: Partial<ExternalData>;
  readonly namespace?: string;
  readonly object?: unknown;
}

/** The first issue's message where an expression does not compile; `undefined` where it does. */
export function issueOf(source: string, namespaced = false): string | undefined {
  const compiled = environments[namespaced ? 1 : 0]?.compile(source);
  return compiled?.ok === false ? (compiled.issues[0]?.message ?? compiled.text) : undefined;
}

/** A request's world over external data. */
export const requestWorld = (external: Partial<ExternalData>): RequestWorld =>
  new RequestWorld({
    resources: new FileResources([]),
    authorizer: NO_OPINION,
    external: { ...NO_EXTERNAL, ...external },
    now: () => 0,
  });

/** The value of an expression, or the text of its error behind `error: `. */
export async function evaluated(source: string, circumstances: Circumstances = {}): Promise<unknown> {
  const result = await resultOf(source, circumstances);
  return result instanceof CelError ? `error: ${result.message}` : result;
}

async function resultOf(
  source: string,
  { external = {}, namespace = "", object = null }: Circumstances,
): Promise<Result | Waiting> {
  const compiled = environments[namespace === "" ? 0 : 1]?.compile(source);
  if (compiled?.ok !== true) throw new Error(compiled?.text ?? "no environment");
  const world = requestWorld(external);
  const state: KyvernoState = { world, namespace, time: 0, random: () => 0 };
  const attempt = (): Result | Waiting =>
    compiled.program.evaluate({ ...externalBindings, object: object as never }, { state }).result;
  return world.questions.settle(attempt, { signal: new AbortController().signal }, () => Waiting.INSTANCE);
}
