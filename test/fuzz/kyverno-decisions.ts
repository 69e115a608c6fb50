/**
 * Random sets of Kyverno's policies with their exceptions, asked about requests that are well-formed and such that are not: what a policy comes to must be
 * what follows from its expressions, each of which is made to be true, false or an error (spec kyverno.md 2.1 and 2.4 to 2.6, 5.3). Then documents with
 * random mistakes, which must be refused or answered.
 */

import { isObject, type JsonObject, text } from "../../src/kubernetes/object.js";
import type { AdmissionQuestion, Outcome } from "../../src/policy/index.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";
import { away, document, EVERYTHING, exempting, prepared, taken } from "./allows-kyverno.js";
import { pick, type Random, random } from "./random.js";

/** What an expression comes to. */
type Truth = "true" | "false" | "error";

interface Expression {
  readonly text: string;
  readonly truth: Truth;
}

/** What a policy comes to; `none`: its constraints don't match. */
type Result = "none" | "skip" | "pass" | "fail" | "error";

/** A policy, what stands beside it, and what it comes to where it matches. */
interface Made {
  readonly documents: readonly JsonObject[];
  readonly rule: Rule;
  readonly denies: boolean;
  readonly result: Exclude<Result, "none">;
}

type Rule = "everything" | "pods" | "services";

const leaves = (truth: Truth, ...texts: string[]): readonly Expression[] => texts.map((text) => ({ text, truth }));
/** What an exception's conditions may say. */
const PLAIN_LEAVES: readonly Expression[] = [
  ...leaves("true", "true", "1 < 2", "'a' in ['a', 'b']", "[1, 2].exists(i, i == 2 || i / 0 == 1)"),
  ...leaves("false", "false", "'a' == 'b'", "[1, 2].all(i, i > 1)"),
  ...leaves("error", "1 / 0 == 1", "object.nope.x == 1", "[1][2] == 1", "dyn('a') < dyn(1)"),
];
const CONDITION_LEAVES: readonly Expression[] = [
  ...PLAIN_LEAVES,
  ...leaves("error", "resource.Get('v1', 'configmaps', 'n', 'c').data.x != 'y'", "image('a b').tag() == ''"),
  ...leaves("error", "resource.List('v1', 'pods', '').items.size() == 0", "http.Get('http://127.0.0.1:1').ok != true"),
];
const VARIABLES = [
  { name: "yes", expression: "size('a') == 1" },
  { name: "no", expression: "!variables.yes" },
  { name: "bad", expression: "1 / 0" },
  { name: "worse", expression: "variables.bad + 1" },
];
const LEAVES: readonly Expression[] = [
  ...CONDITION_LEAVES,
  ...leaves("true", "variables.yes"),
  ...leaves("false", "variables.no"),
  ...leaves("error", "variables.bad == 1", "variables.worse == 1"),
];

const not = (truth: Truth): Truth => (truth === "true" ? "false" : truth === "false" ? "true" : "error");

/** `decides` on either side decides, whatever the other one is. */
function joined(a: Truth, b: Truth, decides: Truth): Truth {
  if (a === decides || b === decides) return decides;
  return a === "error" || b === "error" ? "error" : not(decides);
}

function expression(next: Random, from: readonly Expression[], depth = 0): Expression {
  const inner = (): Expression => expression(next, from, depth + 1);
  const kind = depth < 3 ? next(8) : 7;
  if (kind === 0) {
    const [a, b] = [inner(), inner()];
    return { text: `(${a.text} || ${b.text})`, truth: joined(a.truth, b.truth, "true") };
  }
  if (kind === 1) {
    const [a, b] = [inner(), inner()];
    return { text: `(${a.text} && ${b.text})`, truth: joined(a.truth, b.truth, "false") };
  }
  if (kind === 2) {
    const a = inner();
    return { text: `!(${a.text})`, truth: not(a.truth) };
  }
  if (kind === 3) {
    const [a, b, c] = [inner(), inner(), inner()];
    const truth = a.truth === "error" ? "error" : a.truth === "true" ? b.truth : c.truth;
    return { text: `(${a.text} ? ${b.text} : ${c.text})`, truth };
  }
  // Most are true, so that what comes behind them is reached.
  const wanted = pick(next, ["true", "true", "true", "false", "error"] as const);
  return pick(
    next,
    from.filter(({ truth }) => truth === wanted),
  );
}

const some = <T>(next: Random, most: number, make: (i: number) => T): T[] =>
  Array.from({ length: next(most + 1) }, (_, i) => make(i));

/** What conditions come to together: a *false* wins over errors. */
function conditions(of: readonly Expression[], ignores: boolean): Truth {
  if (of.some(({ truth }) => truth === "false")) return "false";
  if (of.every(({ truth }) => truth === "true")) return "true";
  return ignores ? "false" : "error";
}

const named = (of: readonly Expression[]): readonly JsonObject[] =>
  of.map(({ text }, i) => ({ name: `c${i}`, expression: text }));

const RULES: Readonly<Record<Rule, JsonObject>> = {
  everything: EVERYTHING,
  pods: { resourceRules: [rule("pods")] },
  services: { resourceRules: [rule("services")] },
};

function rule(resource: string): JsonObject {
  const operations = ["CREATE", "UPDATE", "DELETE", "CONNECT"];
  return { apiGroups: [""], apiVersions: ["v1"], operations, resources: [resource] };
}

const ANNOTATIONS = [undefined, undefined, undefined, "'fine'", "string(1 / 0)"];

function policy(next: Random, number: number): Made {
  const name = `p${number}`;
  const ignores = next(4) === 0;
  const asked = next(2) === 0 ? [] : some(next, 2, () => expression(next, CONDITION_LEAVES));
  const validations = some(next, 3, () => expression(next, LEAVES));
  const annotation = pick(next, ANNOTATIONS);
  const message = pick(next, [undefined, "'because'", "string(1 / 0)"]);
  const exemption = next(4) === 0 ? some(next, 2, () => expression(next, PLAIN_LEAVES)) : undefined;
  const expired = next(4) === 0;
  const actions = pick(next, [["Deny"], ["Deny"], ["Deny", "Warn"], ["Audit"], ["Warn"]]);
  const which = pick(next, ["everything", "everything", "pods", "services"] as const);
  const spec: JsonObject = {
    matchConstraints: RULES[which],
    variables: VARIABLES,
    validationActions: actions,
    failurePolicy: ignores ? "Ignore" : "Fail",
    ...(asked.length > 0 && { matchConditions: named(asked) }),
    validations: validations.map(({ text }) => ({
      expression: text,
      ...(message !== undefined && { messageExpression: message }),
    })),
    ...(annotation !== undefined && { auditAnnotations: [{ key: "k", valueExpression: annotation }] }),
  };
  const exceptions: JsonObject[] = [];
  if (exemption !== undefined) {
    const until = { expiresAt: expired ? "2020-01-01T00:00:00Z" : "2999-01-01T00:00:00Z" };
    exceptions.push(exempting({ ...until, ...(exemption.length > 0 && { matchConditions: named(exemption) }) }, name));
  }
  const result = ((): Made["result"] => {
    if (exemption !== undefined && !expired) {
      const met = conditions(exemption, ignores);
      if (met !== "false") return met === "true" ? "skip" : "error";
    }
    const met = conditions(asked, ignores);
    if (met !== "true") return met === "false" ? "skip" : "error";
    const first = validations.find(({ truth }) => truth !== "true")?.truth;
    if (first === "error" || annotation?.includes("/") === true) return "error";
    if (first === "false") return "fail";
    // A policy without validations judges nothing.
    return validations.length === 0 ? "skip" : "pass";
  })();
  return { documents: [document(spec, name), ...exceptions], rule: which, denies: actions.includes("Deny"), result };
}

const KINDS = [
  { group: "", kind: "Pod", resource: "pods", matches: ["everything", "pods"] },
  { group: "apps", kind: "Deployment", resource: "deployments", matches: ["everything", "pods"] },
  { group: "batch", kind: "CronJob", resource: "cronjobs", matches: ["everything", "pods"] },
  { group: "", kind: "Service", resource: "services", matches: ["everything", "services"] },
  { group: "acme.example", kind: "Thing", resource: "things", matches: ["everything"] },
] as const;

/** Objects of requests, most of which no API server sends. */
const OBJECTS: readonly unknown[] = [
  { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "n" }, spec: { containers: [{ image: "a:1" }] } },
  { apiVersion: "apps/v1", kind: "Deployment", metadata: null, spec: { template: [] } },
  { kind: "Pod", metadata: [], spec: { jobTemplate: { spec: "x" } } },
  { kind: "Pod", spec: [{ nope: { x: 1 } }], metadata: "text" },
  { __proto__: null, kind: "Pod", constructor: { name: "x" }, hasOwnProperty: true },
  ...[{ kind: "Pod" }, null, undefined],
  // None of Kubernetes.
  ...[{ kind: 1 }, {}, [], "text", 7, true],
];

/** Whether it is an object of Kubernetes, or absent: other requests are errors. */
const saysItsKind = (object: unknown): boolean => (object ?? null) === null || text(object, "kind") !== "";
const USERS: readonly unknown[] = [{ username: "alice", groups: ["a"] }, {}, { username: 7, groups: "all", extra: [] }];

interface Question {
  readonly review: AdmissionQuestion;
  readonly matches: readonly string[];
  /** It is an error, whatever policies say. */
  readonly unclear: boolean;
}

function question(next: Random): Question {
  const { group, kind, resource, matches } = pick(next, KINDS);
  const operation = pick(next, ["CREATE", "UPDATE", "DELETE", "CONNECT"]);
  const request: JsonObject = {
    ...{ uid: "u", kind: { group, version: "v1", kind }, resource: { group, version: "v1", resource }, operation },
    ...{ name: "a", userInfo: pick(next, USERS), object: pick(next, OBJECTS), oldObject: pick(next, OBJECTS) },
    ...(next(3) > 0 && { namespace: "n" }),
    ...(next(8) === 0 && { requestKind: null, options: [], dryRun: "yes" }),
  };
  const targeted = next(8) === 0;
  const unclear = !targeted && !(saysItsKind(request.object) && saysItsKind(request.oldObject));
  const review = { kind: "admission", request, requestBytes: () => new Uint8Array(), ...(targeted && { targeted }) };
  return {
    review: review as unknown as AdmissionQuestion,
    matches: targeted ? ["everything", "pods", "services"] : matches,
    unclear,
  };
}

/** What policies come to together. */
function expected(made: readonly Made[], { matches, unclear }: Question): Outcome["verdict"] {
  if (unclear) return "error";
  const results = made.filter((each) => matches.includes(each.rule));
  const denied = (result: Result): boolean => results.some((each) => each.denies && each.result === result);
  if (denied("fail")) return "deny";
  if (denied("error")) return "error";
  return results.some(({ result }) => result !== "skip") ? "allow" : "skip";
}

const context = { deadline: 1, signal: new AbortController().signal };
const FAILURES: readonly (() => LookupFailure | Promise<never>)[] = [
  () => new LookupFailure("the cluster is away"),
  () => Promise.reject(new Error("connection refused")),
];

/** What a run found. */
export interface Decisions {
  readonly cases: number;
  readonly verdicts: ReadonlyMap<string, number>;
  /** Documents with random mistakes: those that were taken all the same. */
  readonly taken: number;
  /** What is wrong, for people; none when all is well. */
  readonly faults: readonly string[];
}

const QUESTIONS = 20;
const MOST_FAULTS = 5;

/** Asks for so many seconds, or cases. */
export async function run(seconds: number, seed: number, most = Number.POSITIVE_INFINITY): Promise<Decisions> {
  const next = random(seed);
  const verdicts = new Map<string, number>();
  const faults: string[] = [];
  let cases = 0;
  let accepted = 0;
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && cases < most && faults.length < MOST_FAULTS) {
    const made = Array.from({ length: 1 + next(3) }, (_, i) => policy(next, i));
    const documents = made.flatMap((each) => each.documents);
    const broken = documents.map((each) => mistaken(next, each) as JsonObject);
    const external = away(pick(next, FAILURES));
    let about = "";
    try {
      about = JSON.stringify(documents);
      const policies = prepared(documents, { external });
      for (let i = 0; i < QUESTIONS; i++) {
        const asked = question(next);
        about = `${JSON.stringify(documents)} asked ${JSON.stringify(asked.review)}`;
        const { verdict } = await policies.evaluate(asked.review, context);
        const wanted = expected(made, asked);
        cases += 1;
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
        if (verdict !== wanted) faults.push(`${verdict}, not ${wanted}: ${about}`);
      }
      about = JSON.stringify(broken);
      const others = taken(broken, { external });
      if (typeof others === "string") continue;
      accepted += 1;
      for (let i = 0; i < QUESTIONS; i++) {
        const { review } = question(next);
        about = `${JSON.stringify(broken)} asked ${JSON.stringify(review)}`;
        await others.evaluate(review, context);
      }
    } catch (error) {
      faults.push(`${error instanceof Error ? error.stack : String(error)}: ${about}`);
    }
  }
  return { cases, verdicts, taken: accepted, faults };
}

const ODD: readonly unknown[] = [null, 0, -1.5, "", "x", "true", true, [], {}, [null], { a: null }, ["*"]];

/** A value with one of its parts, at some depth, made something else. */
function mistaken(next: Random, value: unknown): unknown {
  if (next(6) === 0) return pick(next, ODD);
  if (Array.isArray(value) && value.length > 0) {
    const at = next(value.length);
    if (next(8) === 0) return [...value, value[at]];
    return value.map((each: unknown, i) => (i === at ? mistaken(next, each) : each));
  }
  if (!isObject(value)) return pick(next, ODD);
  const keys = Object.keys(value);
  if (keys.length === 0 || next(10) === 0) return { ...value, [pick(next, ["x", "spec", "kind", "name"])]: 1 };
  const key = pick(next, keys);
  const { [key]: part, ...rest } = value;
  if (next(8) === 0) return next(2) === 0 ? rest : { ...rest, [`${key}s`]: part };
  return { ...rest, [key]: mistaken(next, part) };
}
