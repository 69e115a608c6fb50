/** Evaluates expressions of Kyverno's dialect as those of a policy's validation. */
import { type Bindings, CelError, toJson, type Value, Waiting } from "../../../src/cel/index.js";
import { CONDITION_SCOPE, createCompiler } from "../../../src/kinds/kyverno/dialect.js";
import { libraryBindings } from "../../../src/kinds/kyverno/libraries/index.js";
import type { KyvernoState } from "../../../src/kinds/kyverno/state.js";
import type { Scope } from "../../../src/kinds/shared/dialect.js";
import type { ResultType } from "../../../src/kinds/shared/expressions/result-type.js";

/** What a program says of an expression. */
export type Outcome =
  | { readonly refused: string }
  | { readonly error: string }
  | { readonly value: unknown; readonly plain: Value };

const KIND = { group: "", version: "v1", kind: "Pod" };
const RESOURCE = { group: "", version: "v1", resource: "pods" };
const OBJECT = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "team-a", labels: { app: "web" } },
  spec: { nothing: null, containers: [{ name: "c", image: "nginx:1.27" }] },
};

/** The request that the golden cases were made with. */
export const BINDINGS: Bindings = {
  ...libraryBindings,
  object: OBJECT,
  oldObject: {},
  request: {
    kind: KIND,
    resource: RESOURCE,
    requestKind: KIND,
    requestResource: RESOURCE,
    name: "web",
    namespace: "team-a",
    operation: "CREATE",
    userInfo: { username: "system:serviceaccount:ns:n", groups: ["dev"] },
    dryRun: false,
    object: OBJECT,
  },
  namespaceObject: {
    metadata: { name: "team-a", labels: { env: "prod", "kubernetes.io/metadata.name": "team-a" } },
    spec: {},
    status: {},
  },
  exceptions: { allowedImages: [], allowedValues: [] },
  variables: {},
};

/** 2027-01-15T08:00:00Z. */
export const NOW = 1_800_000_000_000;

const compiler = createCompiler(false);

/** How an expression is evaluated. */
export interface Circumstances {
  /** Default any. */
  readonly wanted?: ResultType;
  readonly scope?: Scope;
  /** The request's row of random numbers, default zeros. */
  readonly random?: () => number;
  readonly bindings?: Bindings;
}

/** The code of the error that an expression comes to: the engine tells by it what no policy may ignore. */
export function errorCodeOf(source: string, bindings: Bindings): string | undefined {
  const { program } = compiler.compile(source, "any", CONDITION_SCOPE);
  const state = { time: NOW, namespace: "", random: () => 0 } as Partial<KyvernoState>;
  const result = program?.evaluate({ ...BINDINGS, ...bindings }, { state, costLimit: 1_000_000 }).result;
  return result instanceof CelError ? result.code : undefined;
}

/** The outcome of an expression. */
export function evaluated(source: string, circumstances: Circumstances = {}): Outcome {
  const { wanted = "any", scope = CONDITION_SCOPE, random = () => 0, bindings = BINDINGS } = circumstances;
  const { program, error } = compiler.compile(source, wanted, scope);
  if (program === undefined) return { refused: error ?? "" };
  const state = { time: NOW, namespace: "", random } as Partial<KyvernoState>;
  const { result } = program.evaluate(bindings, { state, costLimit: 1_000_000 });
  if (result instanceof Waiting) throw new Error(`${source} waits`);
  if (result instanceof CelError) return { error: result.message };
  const json = toJson(result);
  return { value: json instanceof CelError ? String(result) : json, plain: result };
}

/** The value of an expression, as JSON where it has such a form; an error's text. */
export function resultOf(source: string, circumstances?: Circumstances): unknown {
  const outcome = evaluated(source, circumstances);
  if ("refused" in outcome) throw new Error(outcome.refused);
  return "error" in outcome ? `error: ${outcome.error}` : outcome.value;
}
