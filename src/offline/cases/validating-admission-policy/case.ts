/**
 * Deciding a case that is written down whole: policies, bindings, parameters, Namespaces, authorizer and request in one JSON object. Policies
 * are taken as an evaluator takes them, without validation.
 */

import { defaultBinding, defaultPolicy } from "../../../kinds/admission-policy/defaults.js";
import type { ExpressionCompiler } from "../../../kinds/shared/expressions/expression-compiler.js";
import { API_TYPES } from "../../../kinds/validating-admission-policy/api-types.js";
import { compilePolicy } from "../../../kinds/validating-admission-policy/compiled-policy.js";
import { ValidatingPolicySet } from "../../../kinds/validating-admission-policy/policy.js";
import {
  type PreparedPolicy,
  prepareBinding,
  preparePolicy,
} from "../../../kinds/validating-admission-policy/prepared-policy.js";
import {
  BINDING_KIND,
  type BindingResource,
  POLICY_KIND,
  type PolicyResource,
} from "../../../kinds/validating-admission-policy/resource.js";
import { compareNames } from "../../../kubernetes/names.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { type AuthorizerCheck, CaseAuthorizer } from "../admission-policy/case-authorizer.js";
import {
  CaseError,
  listOf,
  nobodyWaits,
  readRequest,
  readResource,
  resources,
} from "../admission-policy/case-reader.js";
import { clientWarnings } from "./client-warnings.js";
import { type NativeResult, nativeResult } from "./native-result.js";

/** The decision; or why the case is unusable. */
export type CaseResult =
  | (NativeResult & { readonly authorizerChecks?: readonly AuthorizerCheck[] })
  | { readonly error: string; readonly allowed: false };

/** Decides a case. */
export function decideCase(written: JsonObject, compiler: ExpressionCompiler): CaseResult {
  try {
    return decide(written, compiler);
  } catch (error) {
    if (error instanceof CaseError) return { error: error.message, allowed: false };
    throw error;
  }
}

function decide(written: JsonObject, compiler: ExpressionCompiler): CaseResult {
  const raw = written.raw === true;
  const bindings = listOf(written, "bindings").map((each) => readBinding(each, raw));
  const policies: PreparedPolicy[] = [];
  for (const each of listOf(written, "policies")) {
    const policy = readPolicy(each, raw);
    const name = policy.metadata.name ?? "";
    const own = bindings.filter(({ spec }) => spec.policyName === name).map(prepareBinding);
    const compiled = compilePolicy(policy.spec, compiler, "stored");
    const prepared = preparePolicy(policy, compiled, own, `${POLICY_KIND} '${name}'`);
    if (prepared !== undefined && own.length > 0) policies.push(prepared);
  }
  policies.sort((a, b) => compareNames(a.name, b.name));

  const authorizer = new CaseAuthorizer(written.authorizer);
  const world = { resources: resources(written), authorizer, now: () => 0 };
  const set = new ValidatingPolicySet(policies, { id: "case", dialect: compiler.dialect, world });
  const request = readRequest(written.request);
  const decision = set.decide(request, nobodyWaits());
  if (decision instanceof Promise) throw new Error("what is written down is at hand");
  const result = nativeResult(decision, request);
  const { warnings } = decision;
  const reaching = clientWarnings(warnings);
  const differ = reaching.length !== warnings.length || reaching.some((warning, i) => warning !== warnings[i]);
  return {
    ...result,
    ...(differ && { clientWarnings: reaching }),
    ...(authorizer.checks.length > 0 && { authorizerChecks: authorizer.checks }),
  };
}

const readPolicy = (document: unknown, raw: boolean): PolicyResource => {
  const policy = readResource(document, "policy", POLICY_KIND, API_TYPES) as unknown as PolicyResource;
  return raw ? policy : defaultPolicy(policy);
};

const readBinding = (document: unknown, raw: boolean): BindingResource => {
  const binding = readResource(document, "binding", BINDING_KIND, API_TYPES) as unknown as BindingResource;
  return raw ? binding : defaultBinding(binding);
};
