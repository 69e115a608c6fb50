/** Reads policies from files, by the rules of an API server with the reference's CustomResourceDefinition (spec certificate-request-policy.md 2.4 and 7.2). */

import { didYouMean } from "../../data/suggest.js";
import {
  ANY,
  BOOLEAN,
  INTEGER,
  list,
  map,
  type ObjectSchema,
  object,
  oneOf,
  type Schema,
  STRING,
} from "../../kubernetes/custom-resource/schema.js";
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
import { ALGORITHMS, USAGES } from "./words.js";

// The schema of CertificateRequestPolicies, equal to that of their CustomResourceDefinition (spec certificate-request-policy.md 2.2 and 2.4).

const STRINGS = list(STRING);

const VALIDATIONS = list(object({ rule: STRING, message: STRING }, ["rule"]), { key: "rule" });
const ENTRY = { required: BOOLEAN, validations: VALIDATIONS };
const ALLOWED_STRING = object({ ...ENTRY, value: STRING });
const ALLOWED_LIST = object({ ...ENTRY, values: STRINGS });
/** Entries by their object identifier, each once. */
const BY_OID = list(object({ ...ENTRY, oid: STRING, values: STRINGS }, ["oid"]), { key: "oid" });

const ALLOWED = object({
  commonName: ALLOWED_STRING,
  dnsNames: ALLOWED_LIST,
  ipAddresses: ALLOWED_LIST,
  uris: ALLOWED_LIST,
  emailAddresses: ALLOWED_LIST,
  isCA: BOOLEAN,
  usages: list(oneOf(...USAGES)),
  subject: object({
    organizations: ALLOWED_LIST,
    countries: ALLOWED_LIST,
    organizationalUnits: ALLOWED_LIST,
    localities: ALLOWED_LIST,
    provinces: ALLOWED_LIST,
    streetAddresses: ALLOWED_LIST,
    postalCodes: ALLOWED_LIST,
    serialNumber: ALLOWED_STRING,
    otherAttributes: BY_OID,
  }),
  otherNames: BY_OID,
});

const CONSTRAINTS = object({
  // The schema does not check whether a text is a duration.
  minDuration: STRING,
  maxDuration: STRING,
  privateKey: object({ algorithm: oneOf(...ALGORITHMS), minSize: INTEGER, maxSize: INTEGER }),
});

const SELECTOR = object({
  issuerRef: object({ name: STRING, kind: STRING, group: STRING }),
  namespace: object({ matchNames: STRINGS, matchLabels: map(STRING) }),
});

const NAME_PART = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])";
const PREFIX = "([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?";

const CONDITION = object(
  {
    type: { type: "string", maxLength: 316, pattern: `^${PREFIX}${NAME_PART}$` },
    status: oneOf("True", "False", "Unknown"),
    reason: { type: "string", minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
    message: { type: "string", maxLength: 32768 },
    lastTransitionTime: { type: "string", format: "date-time" },
    observedGeneration: { type: "integer", format: "int64", minimum: 0 },
  },
  ["lastTransitionTime", "message", "reason", "status", "type"],
);

/** `metadata` has a schema of its own, the same for all kinds. */
const METADATA: Schema = map(ANY);

const POLICY_SCHEMA: ObjectSchema = object(
  {
    apiVersion: STRING,
    kind: STRING,
    metadata: METADATA,
    spec: object(
      {
        allowed: ALLOWED,
        constraints: CONSTRAINTS,
        plugins: map(object({ values: map(STRING) })),
        selector: SELECTOR,
      },
      ["selector"],
    ),
    status: object({ conditions: list(CONDITION, { key: "type" }) }),
  },
  ["spec"],
);

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
