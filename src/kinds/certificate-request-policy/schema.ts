/** The schema of CertificateRequestPolicies, equal to that of their CustomResourceDefinition (spec certificate-request-policy.md 2.2 and 2.4). */
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
import { ALGORITHMS, USAGES } from "./words.js";

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

export const POLICY_SCHEMA: ObjectSchema = object(
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
