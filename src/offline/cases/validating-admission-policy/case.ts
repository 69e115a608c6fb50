/**
 * Decides a complete case: policies, bindings, parameters, Namespaces, authorizer and request in one JSON object. Policies are evaluated without
 * validation.
 */

import type { ExpressionCompiler } from "../../../kinds/shared/expressions/expression-compiler.js";
import type { RequestAttributes } from "../../../kinds/shared/match/request-attributes.js";
import { API_TYPES } from "../../../kinds/validating-admission-policy/api-types.js";
import { compilePolicy } from "../../../kinds/validating-admission-policy/compiled-policy.js";
import { denialMessage, type PolicyDecision, reasonCode } from "../../../kinds/validating-admission-policy/decision.js";
import { ValidatingPolicySet } from "../../../kinds/validating-admission-policy/policy.js";
import { prepareBinding, preparePolicy } from "../../../kinds/validating-admission-policy/prepared-policy.js";
import {
  BINDING_KIND,
  type BindingResource,
  POLICY_KIND,
  type PolicyResource,
} from "../../../kinds/validating-admission-policy/resource.js";
import { qualifiedNameErrors } from "../../../kubernetes/name-formats.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { validationFailure } from "../../../policy/audit-annotations.js";
import { type AuthorizerCheck, CaseAuthorizer } from "../admission-policy/case-authorizer.js";
import { boundPolicies, nobodyWaits, orUnusable, readRequest, resources } from "../admission-policy/case-reader.js";
import { type NativeStatus, requestName } from "../admission-policy/native-status.js";

// The API server's own answer, of in-process admission: native status, warnings and audit annotations with native keys (spec
// validating-admission-policy.md 7.6 and 8).

const FAILURE_KEY = "validation.policy.admission.k8s.io/validation_failure";

/** A native answer. Empty members are absent. */
export interface NativeResult {
  readonly allowed: boolean;
  readonly status?: NativeStatus;
  readonly warnings?: readonly string[];
  readonly clientWarnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly authorizerChecks?: readonly AuthorizerCheck[];
}

/** A decision in the API server's words. */
function nativeResult(decision: PolicyDecision, request: RequestAttributes): NativeResult {
  const status = nativeStatus(decision, request);
  const annotations = nativeAnnotations(decision);
  return {
    allowed: status === undefined,
    ...(status && { status }),
    ...(decision.warnings.length > 0 && { warnings: decision.warnings }),
    ...(Object.keys(annotations).length > 0 && { auditAnnotations: annotations }),
  };
}

function nativeStatus(decision: PolicyDecision, request: RequestAttributes): NativeStatus | undefined {
  const { failure } = decision;
  if (failure !== undefined) {
    if (failure.reason !== "NotFound") return { status: "Failure", code: 500, message: failure.message };
    const details = { name: request.namespace, kind: "namespaces" };
    return { status: "Failure", code: 404, reason: "NotFound", message: failure.message, details };
  }
  const [first] = decision.denials;
  if (first === undefined) return undefined;
  const message = denialMessage(first);
  const reason = first.reason || "Invalid";
  const name = requestName(request);
  const { group, resource } = request.resource;
  return {
    status: "Failure",
    code: reasonCode(reason),
    reason,
    message: `${group === "" ? resource : `${resource}.${group}`} "${name}" is forbidden: ${message}`,
    details: { name, ...(group !== "" && { group }), kind: resource, causes: [{ message }] },
  };
}

/** Annotations by their native keys. The first value of a key stays; a key that is not a qualified name is dropped. */
function nativeAnnotations(decision: PolicyDecision): Record<string, string> {
  const annotations: Record<string, string> = {};
  const add = (key: string, value: string): void => {
    if (qualifiedNameErrors(key).length === 0) annotations[key] ??= value;
  };
  for (const { policy, key, value } of decision.annotations) add(`${policy}/${key}`, value);
  const failures = validationFailure(decision.found);
  if (failures !== undefined) add(FAILURE_KEY, failures);
  return annotations;
}

// The warnings that reach a client through the API server's recorder (spec validating-admission-policy.md 2.5).

/** Code points of all warnings together up to which each is sent whole; beyond, each is cut, and the total stays below. */
const TOTAL_MAX = 4_096;
/** Code points of a warning once the total is exceeded. */
const CUT_LENGTH = 256;

/** Removes repetitions, empty texts and those that no header can carry, and cuts long ones if the total is too long. */
function clientWarnings(texts: readonly string[]): readonly string[] {
  const recorded: string[] = [];
  const seen = new Set<string>();
  let total = 0;
  let truncating = false;
  let sent: string[] = [];
  const send = (text: string): void => {
    if (!canBeHeader(text)) return;
    sent.push(text);
    total += [...text].length;
  };
  for (const text of texts) {
    if (text === "" || seen.has(text) || (truncating && total >= TOTAL_MAX)) continue;
    seen.add(text);
    recorded.push(text);
    if (truncating) send(cut(text));
    else if (!canBeHeader(text) || total + [...text].length <= TOTAL_MAX) send(text);
    else {
      truncating = true;
      sent = [];
      total = 0;
      for (const earlier of recorded) send(cut(earlier));
    }
  }
  return sent;
}

const cut = (text: string): string => [...text].slice(0, CUT_LENGTH).join("");

/** Whether a text can be in a header: without control characters, and well-formed. */
const canBeHeader = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** Decides a case; or says why it is unusable. */
export function decideCase(written: JsonObject, compiler: ExpressionCompiler) {
  return orUnusable(() => decide(written, compiler));
}

function decide(written: JsonObject, compiler: ExpressionCompiler): NativeResult {
  const kinds = { policy: POLICY_KIND, binding: BINDING_KIND, types: API_TYPES };
  const policies = boundPolicies(
    written,
    kinds,
    (policy: PolicyResource, bindings: readonly BindingResource[], name) => {
      const compiled = compilePolicy(policy.spec, compiler, "stored");
      return preparePolicy(policy, compiled, bindings.map(prepareBinding), `${POLICY_KIND} '${name}'`);
    },
  );
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
