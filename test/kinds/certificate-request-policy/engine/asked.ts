/** Policies and requests made in short, and what comes of them. */
import assert from "node:assert/strict";
import { Waiting } from "../../../../src/cel/index.js";
import { decodePolicy } from "../../../../src/kinds/certificate-request-policy/decode-policy.js";
import { createRuleCompiler, RULE_DIALECT } from "../../../../src/kinds/certificate-request-policy/dialect.js";
import { AllowedEvaluation } from "../../../../src/kinds/certificate-request-policy/engine/allowed.js";
import type { CertificateRequest } from "../../../../src/kinds/certificate-request-policy/engine/certificate-request.js";
import {
  type CompiledPolicy,
  compilePolicy,
} from "../../../../src/kinds/certificate-request-policy/engine/compiled-policy.js";
import type { Decision, Objection } from "../../../../src/kinds/certificate-request-policy/engine/decision.js";
import { evaluateConstraints } from "../../../../src/kinds/certificate-request-policy/engine/evaluation.js";
import { aggregated, ObjectionBudget } from "../../../../src/kinds/certificate-request-policy/engine/objections.js";
import { requestedNames } from "../../../../src/kinds/certificate-request-policy/engine/requested-names.js";
import { Reviewer, type ReviewerOptions } from "../../../../src/kinds/certificate-request-policy/engine/review.js";
import { RequestValue } from "../../../../src/kinds/certificate-request-policy/request-value.js";
import { Attempt } from "../../../../src/kinds/shared/expressions/attempt.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { RequestWorld } from "../../../../src/world/request-world.js";
import { FileResources } from "../../../../src/world/resources/file-resources.js";
import type { World } from "../../../../src/world/world.js";
import type { CertificationRequest, GeneralNames } from "../../../../src/x509/pkcs10/index.js";
import { request as der, pem } from "../../../x509/pkcs10/requests.js";

const compiler = createRuleCompiler();

/** How a policy is stored. */
export interface Stored {
  readonly name?: string;
  /** The status of its condition `Ready`; none by default. */
  readonly ready?: string;
}

/** A policy for every issuer, unless `spec` says otherwise. */
export function policy(spec: JsonObject = {}, { name = "p", ready }: Stored = {}): CompiledPolicy {
  const read = decodePolicy({
    apiVersion: "policy.cert-manager.io/v1alpha1",
    kind: "CertificateRequestPolicy",
    metadata: { name },
    spec: { selector: { issuerRef: {} }, ...spec },
    ...(ready !== undefined && { status: { conditions: [{ type: "Ready", status: ready }] } }),
  });
  assert.ok(read.ok, read.ok ? "" : read.text);
  return compilePolicy(read.policy, compiler);
}

/** A request in the namespace `foo`, by nobody, for a certificate that says nothing. */
export const request = (more: Partial<CertificateRequest> = {}): CertificateRequest => ({
  name: "r",
  namespace: "foo",
  request: pem(der({})),
  issuerRef: { name: "i", kind: "", group: "" },
  duration: undefined,
  isCA: false,
  usages: [],
  username: "",
  groups: [],
  uid: "",
  extra: {},
  decided: undefined,
  ...more,
});

/** Object identifiers of the subject by short names. */
const OIDS: Readonly<Record<string, string>> = { CN: "2.5.4.3", O: "2.5.4.10", serialNumber: "2.5.4.5" };

/** What a signing request asks for. */
export interface Asked
  extends Partial<Pick<CertificationRequest, "dnsNames" | "ipAddresses" | "uris" | "emailAddresses">> {
  /** Pairs of an identifier, or the short name of one, and a value. */
  readonly subject?: readonly (readonly [string, string | undefined])[];
  readonly generalNames?: Partial<GeneralNames> | { readonly undecodable: string };
  readonly publicKey?: CertificationRequest["publicKey"];
}

const NO_NAMES: GeneralNames = {
  otherNames: [],
  x400Addresses: 0,
  directoryNames: 0,
  ediPartyNames: 0,
  registeredIds: 0,
};

/** A signing request, as if it was read. */
export function csr({ subject = [], generalNames = {}, ...asked }: Asked): CertificationRequest {
  return {
    publicKey: { algorithm: "ECDSA", bits: 256 },
    dnsNames: [],
    ipAddresses: [],
    uris: [],
    emailAddresses: [],
    ...asked,
    subject: subject.map(([name, value]) => ({ oid: OIDS[name] ?? name, value })),
    generalNames: "undecodable" in generalNames ? generalNames : { ...NO_NAMES, ...generalNames },
  };
}

/** An evaluation of `allowed`. */
export function evaluation(
  { allowed }: CompiledPolicy,
  asked: Asked,
  more: Partial<CertificateRequest> = {},
  budget = new ObjectionBudget(),
): AllowedEvaluation {
  const requested = request(more);
  const { name, namespace, username, groups } = requested;
  const cr = new RequestValue(name, namespace, username, groups);
  return new AllowedEvaluation({ allowed, request: requested, names: requestedNames(csr(asked)), cr, budget });
}

/** A world in which everybody may use everything. */
export const worldWith = (more: Partial<World> = {}): World => ({
  resources: new FileResources([]),
  authorizer: { authorize: () => ({ decision: "allow", reason: "" }) },
  now: () => 0,
  ...more,
});

/** One look at a request by itself. */
export const attempt = (): Attempt => new Attempt(RULE_DIALECT, new RequestWorld(worldWith()));

/** What a policy says against a request, as its block of a denial holds it; empty when it approves. An error begins with `Error: `. */
export function objectionsTo(spec: JsonObject, asked: Asked, more: Partial<CertificateRequest> = {}): string {
  const compiled = policy(spec);
  const allowed = evaluation(compiled, asked, more).objections(attempt());
  assert.ok(!(allowed instanceof Waiting));
  const constraints = constraintsOf(compiled, asked, more);
  if ("error" in constraints) return `Error: ${constraints.error}`;
  return [aggregated(allowed), aggregated(constraints)].filter((text) => text !== "").join(", ");
}

function constraintsOf(
  { policy: { constraints } }: CompiledPolicy,
  asked: Asked,
  more: Partial<CertificateRequest>,
): readonly Objection[] | { readonly error: string } {
  return constraints === undefined ? [] : evaluateConstraints(constraints, more.duration, csr(asked).publicKey);
}

/** How a review is made. */
export interface Circumstances extends Partial<ReviewerOptions> {
  readonly namespaceLabels?: Readonly<Record<string, string>>;
}

/** The decision of policies. */
export async function decisionOf(
  policies: readonly CompiledPolicy[],
  requested: CertificateRequest = request(),
  { namespaceLabels, ...options }: Circumstances = {},
): Promise<Decision> {
  const reviewer = new Reviewer(policies, { world: worldWith(), readiness: "self", ...options });
  const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
  return (await reviewer.review({ request: requested, namespaceLabels }, context)).decision;
}

/** The same in one text: the message, or the cause of an error. */
export async function saidOf(...asked: Parameters<typeof decisionOf>): Promise<string> {
  const decision = await decisionOf(...asked);
  return `${decision.result}: ${decision.result === "Error" ? decision.cause : decision.message}`;
}
