/** Evaluates Kyverno's policies on resources and payloads like its command (spec kyverno.md 6.1 and 8.3). */
import { setMaxListeners } from "node:events";
import { withDoubles } from "../../data/doubles.js";
import {
  type ApplyOptions,
  type CompiledPolicy,
  type EngineAnswer,
  type EngineContext,
  type EngineInput,
  isMutating,
  KyvernoEngine,
  mutatingEngine,
  originOf,
  type PolicyResource,
  resultOfOldRule,
} from "../../kinds/kyverno/index.js";
import { text } from "../../kubernetes/object.js";
import type { Failure } from "../../policy/index.js";
import type { World } from "../../world/world.js";
import type { Finding, Place, ReportedPolicy } from "../reports/finding.js";
import type { Judge, Mutated, Mutator, ResourceSubject, Subject } from "./judge.js";
import { admissionInput } from "./request.js";

/** No time limit: the cost of expressions is limited. */
const UNLIMITED: EngineContext = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
// Any number of resources wait for answers at a time.
setMaxListeners(0, UNLIMITED.signal);

const NOBODY: readonly Finding[] = [];

/** Compiled policies of both modes, each evaluated on its subjects: those for JSON on resources as well. */
export class KyvernoJudge implements Judge {
  readonly policies: readonly ReportedPolicy[];
  readonly #kubernetes: OneMode;
  readonly #json: OneMode;

  /**
   * @param policies in the order of loading
   * @param places where they are written
   */
  constructor(policies: readonly CompiledPolicy[], world: World, places: ReadonlyMap<unknown, Place> = new Map()) {
    const forJson = policies.filter(({ resource }) => isForJson(resource));
    const forKubernetes = policies.filter((policy) => !isForJson(policy.resource));
    this.policies = [...forKubernetes, ...forJson].map(({ resource }) =>
      reportedPolicy(resource, places.get(resource)),
    );
    const engine = (of: readonly CompiledPolicy[]) => new KyvernoEngine(of, { world, flavour: "command-line" });
    this.#kubernetes = new OneMode(forKubernetes, 0, engine(forKubernetes));
    this.#json = new OneMode(forJson, forKubernetes.length, engine(forJson));
  }

  judge(subject: Subject): readonly Finding[] | Promise<readonly Finding[]> {
    if (subject.kind === "authorization") return NOBODY;
    if (subject.kind === "payload") return this.#json.ask({ kind: "json", payload: subject.payload });
    const input = admissionInput(subject.request);
    const found = this.#kubernetes.ask(input);
    if (this.#json.empty) return found;
    const more = this.#json.ask({ kind: "json", payload: input.objects?.object ?? withDoubles(subject.object) });
    if (!(found instanceof Promise) && !(more instanceof Promise)) return [...found, ...more];
    return Promise.all([found, more]).then((both) => both.flat());
  }
}

/** Compiled mutating policies, in the order of loading: each sees what those before it have made of a resource. */
export class KyvernoMutator implements Mutator {
  readonly policies: readonly ReportedPolicy[];
  readonly #mode: OneMode;

  /**
   * @param options the definitions are those of custom resources
   * @param places where they are written
   */
  constructor(policies: readonly CompiledPolicy[], options: ApplyOptions, places: ReadonlyMap<unknown, Place>) {
    this.policies = policies.map(({ resource }) => reportedPolicy(resource, places.get(resource)));
    this.#mode = new OneMode(policies, 0, mutatingEngine(policies, options));
  }

  async mutate({ request }: ResourceSubject): Promise<Mutated> {
    return this.#mode.mutate({ kind: "admission", request });
  }
}

/** Whether a policy is for payloads, and for resources as such. */
export const isForJson = (policy: PolicyResource): boolean =>
  policy.spec.evaluation?.mode === "JSON" && !isMutating(policy);

/** A policy in reports; one that was made of a rule of the old language by the name of the old policy. */
export function reportedPolicy(resource: PolicyResource, place?: Place): ReportedPolicy {
  const { metadata, spec } = resource;
  const origin = originOf(resource);
  const { background, admission } = spec.evaluation ?? {};
  return {
    name: origin?.policy ?? metadata.name ?? "",
    namespace: origin?.namespace ?? metadata.namespace ?? "",
    source: origin !== undefined ? "kyverno" : `Kyverno${resource.kind.replace("Namespaced", "")}`,
    annotations: metadata.annotations ?? {},
    process: background?.enabled !== false ? "background scan" : admission?.enabled !== false ? "admission review" : "",
    countsSkips: true,
    ...(place && { place }),
  };
}

/** The policies of one mode. */
class OneMode {
  readonly #engine: KyvernoEngine;
  readonly #places: ReadonlyMap<CompiledPolicy, number>;
  readonly #first: number;

  constructor(policies: readonly CompiledPolicy[], first: number, engine: KyvernoEngine) {
    this.#engine = engine;
    this.#places = new Map(policies.map((policy, index) => [policy, first + index]));
    this.#first = first;
  }

  get empty(): boolean {
    return this.#places.size === 0;
  }

  ask(input: EngineInput): readonly Finding[] | Promise<readonly Finding[]> {
    if (this.empty) return NOBODY;
    const answer = this.#engine.decide(input, UNLIMITED);
    return answer instanceof Promise
      ? answer.then((found) => this.#findings(input, found))
      : this.#findings(input, answer);
  }

  async mutate(input: EngineInput): Promise<Mutated> {
    const answer = await this.#engine.decide(input, UNLIMITED);
    return { findings: this.#findings(input, answer), object: answer.object };
  }

  #findings(input: EngineInput, { responses, failure, detail }: EngineAnswer): readonly Finding[] {
    let note = detail;
    if (failure !== undefined) return this.#failed(failure);
    const findings: Finding[] = [];
    for (const response of responses) {
      const { policy, result } = response;
      if (result === undefined) continue;
      const { exceptions } = result;
      const found = policy.origin === undefined ? result : resultOfOldRule(policy.origin, response, kindOf(input));
      if (found === undefined) continue;
      const { rule, status, message, properties } = found;
      const names = exceptions.length === 0 ? NO_NAMES : exceptions.map(({ metadata }) => metadata.name ?? "");
      const place = this.#places.get(policy) ?? this.#first;
      const finding = { policy: place, rule, status, message, properties, exceptions: names };
      const explains = status === "fail" && policy.variants[0]?.images !== undefined ? note : undefined;
      findings.push(explains === undefined ? finding : { ...finding, note: explains });
      if (explains !== undefined) note = undefined;
    }
    return findings.sort(byPolicy);
  }

  /** Findings of a failure, which fails all policies: none has passed. */
  #failed({ message }: Failure): readonly Finding[] {
    return [...this.#places.values()].map((policy) => ({
      policy,
      rule: "evaluation",
      status: "error",
      message,
      properties: {},
      exceptions: NO_NAMES,
    }));
  }
}

const kindOf = (input: EngineInput): string =>
  input.kind === "json" ? text(input.payload, "kind") : input.request.kind.kind;

const NO_NAMES: readonly string[] = [];

/** Sorts findings in the order of the files, as in reports; the engine sorts by name. */
const byPolicy = (a: Finding, b: Finding): number => a.policy - b.policy;
