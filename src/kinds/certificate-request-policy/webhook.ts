/**
 * The answers of the reference's webhook for policies when one is created, changed or deleted (spec certificate-request-policy.md 2.5 and 7.1). The API
 * server has validated the object by its schema before; here it is decoded as Go does, and checked.
 */
import { aggregate, formatFieldError, goQuote } from "../../kubernetes/field-error.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { isObject, text } from "../../kubernetes/object.js";
import { type CheckOptions, checkPolicy } from "./check-policy.js";
import { type DecodedPolicy, decodePolicy } from "./decode-policy.js";
import { type CertificateRequestPolicy, GROUP, POLICY_KIND, VERSION } from "./resource.js";

/** The parts of an admission request that are used. */
export interface PolicyAdmission {
  readonly operation: string;
  readonly object?: unknown;
  readonly oldObject?: unknown;
}

/** The answer to an admission request. */
export interface PolicyAnswer {
  readonly allowed: boolean;
  /** 200; 403 for a policy that is refused; 400 for an object that cannot be read. */
  readonly code: number;
  readonly reason?: "Forbidden";
  readonly message?: string;
}

/** The result of reading: an answer at once, or a policy that has to be checked first. */
export type ReadAdmission =
  | { readonly kind: "answer"; readonly answer: PolicyAnswer }
  | { readonly kind: "policy"; readonly policy: CertificateRequestPolicy };

const ALLOWED: PolicyAnswer = { allowed: true, code: 200 };

/** Reads the policy to check. Deleting a policy removes what it allows: that is never refused, whatever its state. */
export function readAdmission({ operation, object, oldObject }: PolicyAdmission): ReadAdmission {
  switch (operation) {
    case "CREATE":
      return read(decodeObject(object));
    case "UPDATE": {
      const created = read(decodeObject(object));
      if (created.kind === "answer") return created;
      const before = decodeObject(oldObject);
      return before.ok ? created : read(before);
    }
    case "DELETE":
    case "CONNECT":
      return { kind: "answer", answer: ALLOWED };
    default:
      return { kind: "answer", answer: badRequest(`unknown operation ${goQuote(operation)}`) };
  }
}

/** The answer to a policy that was read. */
export function judge(policy: CertificateRequestPolicy, options: CheckOptions): PolicyAnswer {
  const errors = checkPolicy(policy, options);
  if (errors.length === 0) return ALLOWED;
  const message = aggregate(errors.map(formatFieldError));
  return { allowed: false, code: 403, reason: "Forbidden", message };
}

/** Reads and judges in one step. */
export function answerAdmission(request: PolicyAdmission, options: CheckOptions): PolicyAnswer {
  const found = readAdmission(request);
  return found.kind === "answer" ? found.answer : judge(found.policy, options);
}

const badRequest = (message: string): PolicyAnswer => ({ allowed: false, code: 400, message });

const read = (decoded: DecodedPolicy): ReadAdmission =>
  decoded.ok ? { kind: "policy", policy: decoded.policy } : { kind: "answer", answer: badRequest(decoded.text) };

const failed = (message: string): DecodedPolicy => ({ ok: false, path: [], text: message });

/** Decodes an object of this kind. One without apiVersion and kind counts as one. */
function decodeObject(value: unknown): DecodedPolicy {
  if (value === undefined || value === null) return failed("there is no content to decode");
  if (!isObject(value)) return failed("couldn't get version/kind; the object is not a JSON object");
  const decoded = decodePolicy(value);
  const [apiVersion, kind] = [text(value, "apiVersion"), text(value, "kind") || POLICY_KIND];
  const named = parseApiVersion(apiVersion === "/" ? "" : apiVersion);
  if (named === undefined) return failed(`couldn't get version/kind; unexpected GroupVersion string: ${apiVersion}`);
  const none = named.group === "" && named.version === "";
  const group = none ? GROUP : named.group;
  const version = none || (group === GROUP && named.version === "") ? VERSION : named.version;
  if (group === GROUP && version === VERSION && kind === POLICY_KIND) return decoded;
  return failed(`no kind ${goQuote(kind)} is registered for version ${goQuote(`${group}/${version}`)}`);
}
