/**
 * Decides a case of Kyverno: policies, exceptions, Namespaces, and a request or a payload in one JSON object. The answer has the results of its
 * policy check, autogen, engine and webhook (docs/batch.md).
 */

import { autogenOf, autogenStatus } from "../../../kinds/kyverno/autogen/autogen.js";
import { checkTexts } from "../../../kinds/kyverno/check-policy.js";
import { compileMistakes } from "../../../kinds/kyverno/compile.js";
import type { Compilers } from "../../../kinds/kyverno/dialect.js";
import {
  type EngineInput,
  type ExceptionResource,
  KyvernoEngine,
  type PolicyResource,
  preparePolicies,
} from "../../../kinds/kyverno/index.js";
import { outcomeOf } from "../../../kinds/kyverno/outcome.js";
import { POLICY_KIND } from "../../../kinds/kyverno/resource.js";
import { Doubles } from "../../../kinds/shared/doubles.js";
import { compareNames } from "../../../kubernetes/names.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";
import type { AdmissionRequest } from "../../../policy/index.js";
import { NO_OPINION } from "../../../world/authorizer/authorizer.js";
import { NO_EXTERNAL } from "../../../world/external.js";
import { commandLineData } from "../../../world/offline-values.js";
import { FileResources } from "../../../world/resources/file-resources.js";

/** The reference's answer to a case; empty members are absent. */
export interface KyvernoExpectation {
  readonly check?: readonly {
    readonly policy: string;
    readonly errors?: readonly string[];
    readonly autogen?: unknown;
  }[];
  readonly compileError?: string;
  /** The reason why the reference's answer is not known here: a limit of ours. */
  readonly error?: string;
  readonly results?: readonly CaseResult[];
  readonly allowed?: boolean;
  readonly status?: string;
  readonly message?: string;
  readonly warnings?: readonly string[];
}

interface CaseResult {
  readonly policy: string;
  readonly rule: string;
  readonly status: string;
  readonly message: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** The context of a case, without a time limit. */
const NOBODY_WAITS = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** Decides a case. */
export async function decideKyvernoCase(written: JsonObject, compilers: Compilers): Promise<KyvernoExpectation> {
  const resources = listOf(written.policies) as unknown as readonly PolicyResource[];
  const exceptions = listOf(written.exceptions) as unknown as readonly ExceptionResource[];
  const check = resources.map((resource) => {
    const errors = checkTexts(resource, compileMistakes(resource, compilers));
    const autogen = autogenStatus(autogenOf(resource.spec));
    return { policy: nameOf(resource), ...(errors.length > 0 && { errors }), ...(autogen && { autogen }) };
  });
  const { policies, failures } = preparePolicies(resources, exceptions, { compilers });
  const [failure] = failures;
  if (failure !== undefined) return { check, compileError: failure.text };

  const namespaces = listOf(written.namespaces).map((each) => ({ ...each, apiVersion: "v1", kind: "Namespace" }));
  const external = commandLineData({}, NO_EXTERNAL.http);
  const world = { resources: new FileResources(namespaces), authorizer: NO_OPINION, external, now: () => 0 };
  const input = inputOf(written);
  const asked = new KyvernoEngine(policies, { world, flavour: "command-line" });
  const { responses, failure: stopped } = await asked.decide(input, NOBODY_WAITS);
  if (stopped !== undefined) return { check, error: stopped.message, allowed: false };
  const results = responses
    .flatMap(({ policy, result }): CaseResult[] => {
      if (result === undefined) return [];
      const { rule, status, message, properties } = result;
      const filled = Object.keys(properties).length > 0 && { properties };
      return [{ policy: nameOf(policy.resource), rule, status, message, ...filled }];
    })
    .sort((a, b) => compareNames(a.policy + a.status + a.message, b.policy + b.status + b.message));
  const found = { check, ...(results.length > 0 && { results }) };
  if (input.kind === "json") return found;

  // The reference has a path for each kind: that of namespaced policies is called when there are no others.
  const clustered = policies.filter(({ resource }) => resource.kind === POLICY_KIND);
  const served = new KyvernoEngine(clustered.length > 0 ? clustered : policies, { world, flavour: "server" });
  const { verdict, warnings, ...outcome } = outcomeOf(await served.decide(input, NOBODY_WAITS));
  const allowed = verdict === "allow" || verdict === "skip";
  const message = "message" in outcome ? (outcome.message ?? "") : "";
  return {
    ...found,
    allowed,
    ...(!allowed && { status: "Failure", message: policies.length > 1 ? sorted(message) : message }),
    ...(warnings && { warnings: [...warnings].sort(compareNames) }),
  };
}

/** The parts of a message, sorted, since the reference's order is random. */
const sorted = (message: string): string => message.split("; ").sort(compareNames).join("; ");

const nameOf = ({ metadata }: PolicyResource): string => metadata.name ?? "";

function inputOf({ kind, payload, request }: JsonObject): EngineInput {
  if (kind === "json") return { kind: "json", payload: new Doubles().of(payload) };
  return { kind: "admission", request: { userInfo: {}, ...(request as object) } as AdmissionRequest };
}

const listOf = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);
