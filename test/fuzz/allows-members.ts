/** Members that fail in each way there is, through the same code as in the server: guests' answers are read, policies of CEL look things up. */
import { stringifyJson } from "../../src/data/json.js";
import { askTogether } from "../../src/kinds/ask-together.js";
import { createUnavailablePolicy } from "../../src/kinds/unavailable-policy.js";
import type { FailureCause, Outcome, Policy, Review } from "../../src/policy/index.js";
import { readCallAnswer } from "../../src/wasm/answer.js";
import { readGatekeeperAnswer } from "../../src/wasm/protocols/gatekeeper/answer.js";
import { readOpaAnswer } from "../../src/wasm/protocols/opa/answer.js";
import { LookupFailure, type ResourceSource } from "../../src/world/resources/resource-source.js";
import { inline, prepare } from "../kinds/validating-admission-policy/prepared.js";
import { binding, policy as document } from "../kinds/validating-admission-policy/tricky.js";
import { question } from "../wasm/support.js";
import { kyvernoFailures } from "./allows-kyverno.js";

/** A clock of one case: it goes only when a member takes its time. */
export interface Clock {
  /** Monotonic milliseconds. */
  at: number;
}

/** What a member may need to fail. */
export interface Circumstances {
  readonly clock: Clock;
  /** What it says besides failing, such as the verdict of an answer that comes too late. */
  readonly says: boolean;
}

/** A way to fail. */
export interface Way {
  readonly name: string;
  readonly evaluate: (circumstances: Circumstances) => Policy["evaluate"];
}

/** Members take this long at most, in milliseconds. */
export const MEMBER_TIMEOUT_MS = 50;
/** Groups take this long at most: longer than a member that is late by itself. */
export const GROUP_TIMEOUT_MS = 1_000;

const CAUSES: readonly FailureCause[] = [
  "timeout",
  "abandoned",
  "overload",
  "trap",
  "memory",
  "protocol",
  "capability",
  "expression",
  "mutation",
  "unavailable",
  "internal",
];

const RUBBISH = [
  "",
  "null",
  "[]",
  "true",
  "{}",
  "this is not json",
  '{"accepted":null}',
  '{"accepted":"true"}',
  '{"accepted":1}',
  '{"Accepted":true}',
  '{"allowed":true}',
  '{"accepted":A}{"accepted":true}',
  '{"accepted":A,"accepted":true}',
  '{"accepted":A,"accepted":false}',
  '{"accepted":A,"code":70000}',
  '{"accepted":A,"code":-1}',
  '{"accepted":A,"code":1e400}',
  '{"accepted":A,"message":1}',
  '{"accepted":A,"warnings":"w"}',
  '{"accepted":A,"audit_annotations":{"k":1}}',
  '{"accepted":A',
  '{"accepted":A,}',
];

/** A change that no object of a case is already like. */
const MUTATIONS = [
  '{"accepted":A,"mutated_object":{"marker":"changed"}}',
  '{"accepted":A,"mutated_object":"changed"}',
  '{"accepted":A,"mutated_object":-1.5,"warnings":["w"]}',
  '{"accepted":A,"message":"m","code":400,"mutated_object":[["changed"]]}',
];

const PATCH = Buffer.from('[{"op":"add","path":"/marker","value":1}]').toString("base64");
const REGO = [
  "[]",
  "[{}]",
  '[{"result":{}}]',
  '[{"result":{"response":{"uid":"u"}}}]',
  '[{"result":{"response":{"uid":"u","allowed":"yes"}}}]',
  '[{"result":{"response":{"uid":"u","allowed":A}}},{"result":{"response":{"uid":"u","allowed":true}}}]',
  '[{"result":{"response":{"uid":"u","allowed":A,"patch":"bm8="}}}]',
  `[{"result":{"response":{"uid":"u","allowed":A,"patch":"${PATCH}"}}}]`,
];

const says = (text: string, { says: accepted }: Circumstances): string => text.replace("A", String(accepted));
const verdict = ({ says: accepted }: Circumstances): Outcome =>
  accepted ? { verdict: "allow" } : { verdict: "deny", message: "no" };

/** A guest's answer, read as the WASM policies read it. */
const guest = (kind: string, text: string): Way => ({
  name: `${kind}: ${text || "nothing"}`,
  evaluate: (circumstances) => (review) => readCallAnswer(says(text, circumstances), question(review)),
});

/** What breaks the contract of policies, which no type keeps a defect from doing. */
const broken = (name: string, answer: unknown): Way => ({
  name: `breaks: ${name}`,
  evaluate: () => () => answer as Outcome,
});

/** Real policies of CEL that cannot decide. Their verdict would be that of their last validation. */
function celWays(): Way[] {
  const way = (name: string, made: Policy): Way => ({
    name: `cel: ${name}`,
    evaluate:
      () =>
      (...asked) =>
        made.evaluate(...asked),
  });
  const away = new LookupFailure("the cluster is away");
  const failing = <T>(): Promise<T> => Promise.reject(new Error("connection refused"));
  const nobody = { get: () => away, list: () => away, namespaced: () => away, namespace: () => away };
  const rejecting = { get: failing, list: failing, namespaced: failing, namespace: failing };
  const unknown = { equivalents: () => undefined, convert: () => away };
  const all = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
  const withParameters = (found: Partial<ResourceSource>, name: string, paramRef: Record<string, string>): Way => {
    const prepared = prepare([
      document({
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [{ expression: "params.data.x == 'y'" }],
      }),
      binding({ paramRef }),
    ]);
    const resources = { ...nobody, ...unknown, ...found } as ResourceSource;
    const world = {
      resources,
      authorizer: { authorize: () => ({ decision: "allow", reason: "" }) as const },
      now: () => 0,
    };
    return way(name, prepared.policy("p", world));
  };
  const reference = { name: "limits", namespace: "default", parameterNotFoundAction: "Deny" };
  const ask = { validations: [{ expression: "authorizer.group('').resource('pods').check('get').allowed()" }] };
  const askNot = { validations: [{ expression: "!authorizer.group('').resource('pods').check('get').allowed()" }] };
  const refusing = { authorize: () => failing<never>() };
  const matched = { matchConstraints: { resourceRules: [all] } };
  return [
    way("an error in a validation", inline({ validations: [{ expression: "object.nope.x == 1" }] })),
    way(
      "an error in a match condition",
      inline({ matchConditions: [{ name: "c", expression: "1 / 0 == 1" }], validations: [{ expression: "true" }] }),
    ),
    way(
      "an error in a variable",
      inline({ variables: [{ name: "v", expression: "[1][2]" }], validations: [{ expression: "variables.v == 1" }] }),
    ),
    way("an authorizer that is away", inline(ask, { authorizer: refusing })),
    way("an authorizer that is away, denied", inline(askNot, { authorizer: refusing })),
    way(
      "a Namespace that cannot be had",
      inline(
        { ...matched, validations: [{ expression: "namespaceObject.metadata.name != 'x'" }] },
        { resources: { ...nobody, ...unknown } as never },
      ),
    ),
    withParameters({ namespaced: () => true, get: () => undefined, list: () => [] }, "absent parameters", reference),
    withParameters({}, "parameters of a cluster that is away", reference),
    withParameters(rejecting as never, "parameters of a cluster that rejects", reference),
  ];
}

/** Every way in which a member can fail. */
export function waysToFail(): readonly Way[] {
  return [
    ...CAUSES.map(
      (cause): Way => ({
        name: `fails: ${cause}`,
        evaluate: () => () => ({ verdict: "error", message: "boom", cause }),
      }),
    ),
    {
      name: "fails: overload, with a code",
      evaluate: () => () => ({ verdict: "error", message: "full", code: 429, cause: "overload" }),
    },
    ...RUBBISH.map((text) => guest("rubbish", text)),
    ...MUTATIONS.map((text) => guest("mutation", text)),
    ...REGO.map(
      (text): Way => ({
        name: `rego: ${text}`,
        evaluate: (circumstances) => (review) => readOpaAnswer(says(text, circumstances), question(review)),
      }),
    ),
    {
      name: "gatekeeper: no list",
      evaluate: () => (review) => readGatekeeperAnswer('[{"result":{}}]', question(review)),
    },
    {
      name: "a patch and a verdict",
      evaluate: (circumstances) => () =>
        ({ ...verdict(circumstances), mutation: { kind: "patch", patch: PATCH } }) as Outcome,
    },
    { name: "unavailable", evaluate: () => createUnavailablePolicy("u", "could not be loaded").evaluate },
    {
      name: "throws",
      evaluate: () => () => {
        throw new Error("bug");
      },
    },
    {
      name: "throws nothing",
      evaluate: () => () => {
        throw undefined;
      },
    },
    { name: "rejects", evaluate: () => () => Promise.reject(new Error("bug")) },
    { name: "rejects with a verdict", evaluate: (circumstances) => () => Promise.reject(verdict(circumstances)) },
    broken("nothing", undefined),
    broken("null", null),
    broken("true", true),
    broken("a text", "allow"),
    broken("an unknown verdict", { verdict: "maybe" }),
    broken("no verdict", { allowed: true, accepted: true }),
    broken("a promise of nothing", Promise.resolve(undefined)),
    broken("a promise of an unknown verdict", Promise.resolve({ verdict: "Allow" })),
    late("late", MEMBER_TIMEOUT_MS + 1, false),
    late("late, after a wait", MEMBER_TIMEOUT_MS + 1, true),
    late("later than the group's time", GROUP_TIMEOUT_MS + 1, false),
    late("later than the group's time, after a wait", GROUP_TIMEOUT_MS + 1, true),
    {
      name: "never answers",
      evaluate:
        ({ clock }) =>
        () => {
          clock.at += MEMBER_TIMEOUT_MS;
          return new Promise(() => {});
        },
    },
    {
      name: "answers when nobody waits any more",
      evaluate: (circumstances) => (_, context) =>
        new Promise((resolve) => {
          circumstances.clock.at += MEMBER_TIMEOUT_MS;
          context.signal.addEventListener("abort", () => resolve(verdict(circumstances)));
        }),
    },
    ...celWays(),
    ...kyvernoFailures().map(
      ({ name, policy }): Way => ({
        name,
        evaluate:
          () =>
          (...asked) =>
            policy.evaluate(...asked),
      }),
    ),
  ];
}

function late(name: string, milliseconds: number, waits: boolean): Way {
  return {
    name: `late: ${name}`,
    evaluate: (circumstances) => () => {
      if (!waits) {
        circumstances.clock.at += milliseconds;
        return verdict(circumstances);
      }
      return new Promise((resolve) =>
        queueMicrotask(() => {
          circumstances.clock.at += milliseconds;
          resolve(verdict(circumstances));
        }),
      );
    },
  };
}

/** A text that tells what a policy was asked about. */
export const subjectOf = (review: Review): string =>
  review.targeted === true
    ? stringifyJson(review.kind === "raw" ? review.payload : (review.request.object ?? null))
    : "";

/** A policy that does what it is told. */
export const policyOf = (id: string, evaluate: Policy["evaluate"], waits: boolean): Policy => ({
  id,
  kind: "wasm",
  implementation: "fake",
  immediate: !waits,
  evaluate: waits ? (review, context) => Promise.resolve().then(() => evaluate(review, context)) : evaluate,
});

/** Policies that are asked as one. */
export const together = (policies: readonly Policy[], clock: Clock): Policy =>
  askTogether("t", policies, () => clock.at);
