/**
 * Decides a review: policies, a CertificateRequest, Namespaces, and permissions to use the policies in one JSON object. The answer has the results of
 * approver-policy's manager and its evaluators (docs/batch.md).
 */
import { Waiting } from "../../../cel/index.js";
import {
  aggregated,
  compilePolicy,
  decodePolicy,
  Look,
  type Objection,
  Reviewer,
  RULE_DIALECT,
  readCertificateRequest,
} from "../../../kinds/certificate-request-policy/index.js";
import { Attempt } from "../../../kinds/shared/expressions/attempt.js";
import type { ExpressionCompiler } from "../../../kinds/shared/expressions/expression-compiler.js";
import { formatFieldError } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";
import type { Authorizer, AuthorizerAttributes, AuthorizerDecision } from "../../../world/authorizer/authorizer.js";
import { RbacAuthorizer } from "../../../world/authorizer/rbac-authorizer.js";
import { type RbacObject, readRbacObject } from "../../../world/authorizer/rbac-objects.js";
import { RequestWorld } from "../../../world/request-world.js";
import { FileResources } from "../../../world/resources/file-resources.js";
import type { World } from "../../../world/world.js";

/** The answer of one evaluator of one policy when called directly, whether or not the policy selects the request. */
interface Evaluation {
  readonly policy: string;
  readonly evaluator: "allowed" | "constraints";
  readonly result?: "Denied" | "NotDenied";
  readonly message?: string;
  readonly error?: string;
}

/** The reference's answer to a review; empty members are absent. */
export interface ReviewExpectation {
  readonly result: "Approved" | "Denied" | "Unprocessed" | "Error";
  readonly message?: string;
  readonly error?: string;
  readonly evaluators?: readonly Evaluation[];
  /** With `rbac`: the policies that were selected and that the requester may use. */
  readonly mayUse?: readonly string[];
}

/** The context of a case, without a time limit. */
const NOBODY_WAITS = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** Decides a case. An invalid policy or request makes the whole case unusable. */
export async function decideReview(written: JsonObject, compiler: ExpressionCompiler): Promise<ReviewExpectation> {
  const policies = listOf(written.policies).map((each) => {
    const read = decodePolicy(each);
    if (!read.ok) throw new TypeError(`policy: ${read.text}`);
    return compilePolicy(read.policy, compiler);
  });
  const read = readCertificateRequest(written.certificateRequest);
  if (read.kind === "malformed") throw new TypeError(`certificateRequest: ${read.text}`);
  const asked = new WhoMayUse(written);
  const world: World = { resources: new FileResources(listOf(written.namespaces)), authorizer: asked, now: () => 0 };
  const input = { request: read.request };
  const { decision } = await new Reviewer(policies, { world, readiness: "status" }).review(input, NOBODY_WAITS);
  const evaluation = new Look(policies, input, { readiness: "status" });
  const evaluators = policies.flatMap((compiled): Evaluation[] => {
    const policy = compiled.policy.name;
    const attempt = new Attempt(RULE_DIALECT, new RequestWorld(world));
    return [
      { policy, evaluator: "allowed", ...answerOf(evaluation.allowed(compiled, attempt)) },
      { policy, evaluator: "constraints", ...answerOf(evaluation.constraints(compiled)) },
    ];
  });
  return {
    result: decision.result,
    ...(decision.result === "Error" ? { error: decision.cause } : { message: decision.message }),
    ...(evaluators.length > 0 && { evaluators }),
    ...(asked.allowed && asked.allowed.length > 0 && { mayUse: [...asked.allowed].sort() }),
  };
}

/** An authorizer for the use of policies: by a list of names, or by RBAC objects. */
class WhoMayUse implements Authorizer {
  /** The names that were allowed; `undefined` where a list has them anyway. */
  readonly allowed: string[] | undefined;
  readonly #bound: unknown;
  readonly #rbac: RbacAuthorizer;

  constructor({ bound, rbac }: JsonObject) {
    this.#bound = bound;
    this.allowed = bound === undefined ? [] : undefined;
    this.#rbac = new RbacAuthorizer(listOf(rbac).map(rbacObject));
  }

  authorize(attributes: AuthorizerAttributes): AuthorizerDecision {
    const { name } = attributes;
    if (Array.isArray(this.#bound)) return { decision: this.#bound.includes(name) ? "allow" : "noOpinion", reason: "" };
    const decision = this.#rbac.authorize(attributes);
    if (decision.decision === "allow") this.allowed?.push(name);
    return decision;
  }
}

function rbacObject(value: JsonObject): RbacObject {
  const read = readRbacObject(value);
  if (!("kind" in read)) throw new TypeError(`rbac: ${read.map(formatFieldError).join("; ")}`);
  return read;
}

function answerOf(
  step: readonly Objection[] | { readonly cause: string } | Waiting,
): Omit<Evaluation, "policy" | "evaluator"> {
  if (step instanceof Waiting) return { error: "waiting" };
  if ("cause" in step) return { error: step.cause };
  const message = aggregated(step);
  return message === "" ? { result: "NotDenied" } : { result: "Denied", message };
}

const listOf = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);
