/** Reads policies from files, by the rules of an API server with the reference's CustomResourceDefinition (spec certificate-request-policy.md 2.4 and 7.2). */

import { didYouMean } from "../../data/suggest.js";
import { pruned, siblings, unknownMembers } from "../../kubernetes/custom-resource/unknown-members.js";
import { validate, validateUnique } from "../../kubernetes/custom-resource/validate.js";
import { without } from "../../kubernetes/custom-resource/without.js";
import { type FieldError, type FieldPath, formatPath } from "../../kubernetes/field-error.js";
import { compareNames } from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import { decode } from "../shared/decode/api-type.js";
import { OBJECT_META } from "../shared/decode/object-meta.js";
import { type Metadata, validateMetadata } from "../shared/decode/validate-metadata.js";
import { decodePolicy } from "./decode-policy.js";
import { type CertificateRequestPolicy, GROUP, VERSION } from "./resource.js";
import { POLICY_SCHEMA } from "./schema.js";

/** An error of a document. */
export interface ReadFailure extends FieldError {
  /** Whether the member is unknown: an API server drops it, and with it a restriction that its writer may have meant. */
  readonly unknownField: boolean;
  /** A proposed correction, where one is known. */
  readonly hint: string | undefined;
}

/** The contents of a document with its errors. A policy with failures is used only when a cluster is mirrored. */
export interface ReadPolicy {
  /** `undefined` where the document cannot be decoded. */
  readonly policy: CertificateRequestPolicy | undefined;
  readonly failures: readonly ReadFailure[];
  /** Where there is no policy: the readable part, for finding further errors. */
  readonly rest?: CertificateRequestPolicy;
}

/** Reads a document of this kind. */
export function readPolicy(value: JsonObject): ReadPolicy {
  const apiVersion = text(value, "apiVersion");
  if (apiVersion !== `${GROUP}/${VERSION}`) {
    const what = `there is no version ${JSON.stringify(apiVersion)} of this kind`;
    return { policy: undefined, failures: [failure(["apiVersion"], what, `use ${GROUP}/${VERSION} instead`)] };
  }
  const unknown = [...unknownMembers(value, POLICY_SCHEMA, []), ...unknownOfMetadata(member(value, "metadata"))];
  const errors = schemaErrors(value);
  const failures = [...unknown.map(unknownField), ...errors.map(({ path, text: what }) => failure(path, what))];
  const decoded = decodePolicy(value);
  if (!decoded.ok) {
    // The schema has reported the same errors already, except for durations, which it does not check.
    if (!errors.some(({ path }) => formatPath(path) === formatPath(decoded.path))) {
      failures.push(failure(decoded.path, decoded.text));
    }
    const rest = restOf(value, [...errors.map(({ path }) => path), decoded.path]);
    return { policy: undefined, failures, ...(rest !== undefined && { rest }) };
  }
  const metadata = (member(value, "metadata") ?? {}) as Metadata;
  failures.push(...nameErrors(metadata).map(({ path, text: what }) => failure(path, what)));
  return { policy: decoded.policy, failures };
}

/** Values of wrong types that are left out one after another before reading a document stops. */
const MOST_LEFT_OUT = 20;

function restOf(value: JsonObject, wrong: readonly FieldPath[]): CertificateRequestPolicy | undefined {
  let left = without(value, wrong) as JsonObject;
  for (let i = 0; i < MOST_LEFT_OUT; i++) {
    const decoded = decodePolicy(left);
    if (decoded.ok) return decoded.policy;
    left = without(left, [decoded.path]) as JsonObject;
  }
  return undefined;
}

/** The errors of an object by the API server's schema; it reports them before the webhook, and after pruning. */
export function schemaErrors(value: unknown): readonly FieldError[] {
  const kept = pruned(value, POLICY_SCHEMA);
  return [...validate(kept, POLICY_SCHEMA, []), ...validateUnique(kept, POLICY_SCHEMA, [])];
}

/** The members that the API server drops, sorted. apiVersion, kind and metadata belong to all kinds, and are never pruned. */
export const prunedFields = (value: unknown): readonly string[] =>
  unknownMembers(value, POLICY_SCHEMA, [])
    .filter(([first]) => first !== "apiVersion" && first !== "kind")
    .map(formatPath)
    .sort(compareNames);

/** The text of a failure with its hint. */
export const describeFailure = ({ text: what, hint }: ReadFailure): string =>
  hint === undefined ? what : `${what}: ${hint}`;

const failure = (path: FieldPath, what: string, hint?: string): ReadFailure => ({
  path,
  text: what,
  unknownField: false,
  hint,
});

function unknownField(path: FieldPath): ReadFailure {
  const name = String(path.at(-1));
  const proposed = name === "expressions" ? NEVER_SHIPPED : undefined;
  const suggestion = proposed === undefined ? didYouMean(name, siblingsOf(path)) : "";
  return { path, text: `there is no field ${JSON.stringify(name)}${suggestion}`, unknownField: true, hint: proposed };
}

/** The hint for a field that was once proposed (spec certificate-request-policy.md 5.8). */
const NEVER_SHIPPED =
  "it was proposed and never shipped; rules stand in the `validations` of an attribute, each for its values alone";

const siblingsOf = (path: FieldPath): readonly string[] =>
  path.length === 2 && path[0] === "metadata" ? Object.keys(OBJECT_META.fields) : siblings(path, POLICY_SCHEMA);

function unknownOfMetadata(metadata: unknown): readonly FieldPath[] {
  const strict = decode(metadata, OBJECT_META);
  return strict.ok ? [] : strict.failure.unknown.map((path) => ["metadata", ...path]);
}

/** The errors of a name. A policy in a file needs its own: it identifies the policy, and RBAC refers to it. */
function nameErrors(metadata: Metadata): readonly FieldError[] {
  if ((metadata.name ?? "") !== "" || (metadata.generateName ?? "") === "") return validateMetadata(metadata);
  return [{ path: ["metadata", "generateName"], text: "a name cannot be generated here: set metadata.name" }];
}
