/**
 * Policies that are paused, again and again, also in the midst of an expression, and wait for answers meanwhile, decide what they decide at once: random sets of policies,
 * bindings, parameters, variables, conditions, messages and annotations, on clocks that jump.
 */

import { createExpressionCompiler } from "../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import type { AdmissionQuestion, Outcome } from "../../src/policy/index.js";
import type { AuthorizerDecision } from "../../src/world/authorizer/authorizer.js";
import type { ResourceSource } from "../../src/world/resources/resource-source.js";
import { type World, worldOf } from "../../src/world/world.js";
import { prepare } from "../kinds/validating-admission-policy/prepared.js";
import {
  binding,
  costly,
  deployment,
  map,
  namespaceObject,
  policy,
  ref,
} from "../kinds/validating-admission-policy/tricky.js";
import { CountedTurns } from "../support/counted-turns.js";
import { forcedSteps } from "../support/forced-steps.js";
import type { Fuzzer } from "./fuzzer.js";
import { pick, type Random, random } from "./random.js";

const REVIEW: AdmissionQuestion = {
  kind: "admission",
  request: deployment() as unknown as AdmissionQuestion["request"],
  requestBytes: () => new Uint8Array(),
};

/** What long expressions cost; the last two are more than one may. */
const COSTS = [10_000, 10_000, 30_000, 30_000, 200_000, 200_000, 600_000, 990_000, 1_200_000];

/** What an expression can name. */
interface Scope {
  readonly variables: readonly string[];
  readonly authorizer: boolean;
  readonly params: boolean;
}

const NOTHING: Scope = { variables: [], authorizer: false, params: false };
const PLAIN = [
  "object.spec.replicas == 3",
  "object.nope == 1",
  "request.name == 'web'",
  "namespaceObject.metadata.name == 'ns'",
  "1/0 == 1",
  "true",
  "false",
];
const OF_PARAMS = ["int(params.data.n) > 1", "params.data.x == 'y'", "params.metadata.name != 'm0'"];

function condition(next: Random, scope: Scope, depth = 0): string {
  const { variables, authorizer, params } = scope;
  const inner = (): string => condition(next, scope, depth + 1);
  const variable = (): string => `variables.${pick(next, variables)}`;
  const kind = next(10);
  if (kind < 3 && depth < 2) return `(${inner()} ${pick(next, ["&&", "||"])} ${inner()})`;
  if (kind === 3 && depth < 2) return `!(${inner()})`;
  if (kind === 4 && variables.length > 0)
    return `${variable()} ${pick(next, ["<", ">", "!="])} ${pick(next, [0, 2, 5])}`;
  if (kind === 5 && variables.length > 0) return `${variable()} > ${variable()}`;
  if (kind === 6 && params) return pick(next, OF_PARAMS);
  if (kind === 7 && authorizer) {
    return `authorizer.requestResource.check('${pick(next, ["a", "b", "c", "d"])}').allowed()`;
  }
  return kind === 8 ? pick(next, PLAIN) : costly(pick(next, COSTS));
}

const some = <T>(next: Random, most: number, make: (index: number) => T): T[] =>
  Array.from({ length: 1 + next(most) }, (_, index) => make(index));

function policyOf(next: Random, name: string, shared: readonly string[]): JsonObject[] {
  const params = next(100) < 60;
  const names: string[] = [];
  const variables = some(next, 5, (index) => {
    const test = condition(next, { variables: [...names], authorizer: next(100) < 30, params });
    const other = names.length > 0 ? `variables.${pick(next, names)} + 1` : "1";
    names.push(`v${index}`);
    return { name: `v${index}`, expression: `(${test}) ? ${index} : ${other}` };
  });
  const scope = (authorizer: boolean): Scope => ({ variables: names, authorizer, params });
  const test = (): string => (next(100) < 20 ? pick(next, shared) : condition(next, scope(next(100) < 30)));
  const silent = (): string => condition(next, scope(false));
  const spec = {
    failurePolicy: pick(next, ["Fail", "Fail", "Ignore"]),
    variables,
    validations: some(next, next(100) < 15 ? 14 : 4, () => ({
      expression: test(),
      ...(next(100) < 40 && { messageExpression: `'m' + string(${silent()})` }),
      ...(next(100) < 20 && { reason: "Forbidden" }),
    })),
    ...(next(100) < 50 && {
      matchConditions: some(next, 3, (index) => ({
        name: `c${index}`,
        expression: condition(next, { ...NOTHING, authorizer: next(100) < 30 }),
      })),
    }),
    ...(next(100) < 50 && {
      auditAnnotations: some(next, 2, (index) => ({ key: `k${index}`, valueExpression: `string(${silent()})` })),
    }),
    ...(params && { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }),
  };
  const bindings = some(next, 3, (index) =>
    binding(
      {
        policyName: name,
        validationActions: pick(next, [["Deny"], ["Warn"], ["Audit", "Warn"], ["Deny", "Audit"]]),
        ...(params &&
          next(100) < 85 &&
          ref(next(100) < 60 ? { selector: {} } : { name: pick(next, ["m0", "m2", "m9"]) })),
      },
      `${name}.${index}`,
    ),
  );
  return [policy(spec, name), ...bindings];
}

/** An answer at once, or a moment later. */
const eventually = <T>(later: boolean, answer: T): T | Promise<T> =>
  later ? new Promise((resolve) => setImmediate(() => resolve(answer))) : answer;

/** A world in which some answers have to be waited for. */
function waiting(world: World, next: Random): World {
  const { resources, authorizer } = world;
  const later = (): boolean => next(100) < 50;
  const slow: ResourceSource = {
    namespace: (name) => eventually(later(), resources.namespace(name)) as never,
    get: (kind, namespace, name) => eventually(later(), resources.get(kind, namespace, name)) as never,
    list: (kind, namespace) => eventually(later(), resources.list(kind, namespace)) as never,
    namespaced: (kind) => eventually(later(), resources.namespaced(kind)) as never,
    equivalents: (resource, subresource) => resources.equivalents(resource, subresource),
    convert: (object, to) => resources.convert(object, to),
  };
  return {
    ...world,
    ...(next(100) < 40 && { resources: slow }),
    ...(next(100) < 60 && {
      authorizer: { authorize: (asked) => eventually(true, authorizer.authorize(asked)) as never },
    }),
  };
}

const authorizer = {
  authorize: ({ verb }: { readonly verb: string }): AuthorizerDecision => ({
    decision: verb < "c" ? "allow" : "noOpinion",
    reason: "",
  }),
};

/** What the log is told of limits that were passed stands in the order in which attempts came to them. */
const comparable = ({ detail, ...outcome }: Outcome & { readonly detail?: string }): string =>
  JSON.stringify([outcome, detail?.split("; ").sort()]);

/** What a run found. */
export interface FoundPauses {
  readonly cases: number;
  readonly turns: number;
  /** Cases that come to something else when they are paused. */
  readonly differences: readonly string[];
}

/** Compares as long as it is wanted. */
export async function run(goesOn: (cases: number) => boolean, seed: number): Promise<FoundPauses> {
  const next = random(seed);
  const differences: string[] = [];
  let [cases, taken, long] = [0, 0, 0];
  const compiler = createExpressionCompiler(
    undefined,
    undefined,
    forcedSteps(() => next(100) < long),
  );
  while (goesOn(cases) && differences.length < 5) {
    long = pick(next, [0, 20, 70, 100]);
    const shared = Array.from({ length: 3 }, () => condition(next, NOTHING));
    const documents = [
      namespaceObject("ns"),
      ...["m0", "m1", "m2"].map((name, n) => map(name, next(100) < 80 ? { n: String(n) } : {})),
      ...some(next, 3, (index) => policyOf(next, `p${index}.acme.example`, shared)).flat(),
    ];
    const prepared = prepare(documents, { compiler });
    if (prepared.problems.some(({ severity }) => severity === "error")) continue;
    const context = { deadline: 1e12, signal: new AbortController().signal };
    const still = worldOf(prepared.objects, { authorizer, now: () => 0 });
    const whole = await prepared.policy("all", still).evaluate(REVIEW, context);
    let time = 0;
    const step = pick(next, [() => 20, () => (next(100) < 30 ? 20 : 0), () => (next(100) < 10 ? 200 : 3)]);
    const now = (): number => {
      time += step();
      return time;
    };
    const turns = new CountedTurns();
    const jumping = waiting(worldOf(prepared.objects, { authorizer, now }), next);
    const paused = await prepared.policy("all", jumping).evaluate(REVIEW, { ...context, turns });
    cases += 1;
    taken += turns.count;
    if (comparable(paused) !== comparable(whole)) {
      differences.push(`case ${cases} of seed ${seed}: ${JSON.stringify(whole)} but paused ${JSON.stringify(paused)}`);
    }
  }
  return { cases, turns: taken, differences };
}

/** `pauses`: see {@link run}. */
export const pauseFuzzer: Fuzzer = {
  name: "pauses",
  async run(milliseconds, seed) {
    const end = performance.now() + milliseconds;
    const { cases, turns, differences } = await run(() => performance.now() < end, seed);
    console.log(`${cases} sets of policies, ${turns} turns`);
    return differences;
  },
};
