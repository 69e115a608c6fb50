/**
 * Decodes a policy as the reference's Go types do: unknown members are dropped, null is absent, and a value of a wrong type or an invalid
 * duration makes the whole object unreadable (spec certificate-request-policy.md 2.2 and 7.1).
 */

import { parseGoDuration } from "../../data/go/duration.js";
import type { FieldPath } from "../../kubernetes/field-error.js";
import { compareNames } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import {
  type ApiType,
  boolean,
  decodeLeniently,
  integer,
  list,
  map,
  string,
  struct,
} from "../shared/decode/api-type.js";
import { CONDITION, OBJECT_META } from "../shared/decode/object-meta.js";
import { DURATION } from "./read-request.js";
import type {
  Allowed,
  AllowedByOid,
  AllowedList,
  AllowedString,
  AllowedSubject,
  CertificateRequestPolicy,
  Constraints,
  Selector,
  SubjectList,
} from "./resource.js";
import { SUBJECT_LISTS } from "./words.js";

/** The policy; or the error and its place. */
export type DecodedPolicy =
  | { readonly ok: true; readonly policy: CertificateRequestPolicy }
  | { readonly ok: false; readonly path: FieldPath; readonly text: string };

/** A struct of the policies' own API. */
const named = (what: string, fields: Readonly<Record<string, ApiType>>): ApiType =>
  struct(`v1alpha1.CertificateRequestPolicy${what}`, fields);

const VALIDATIONS = list(struct("v1alpha1.ValidationRule", { rule: string(), message: string() }));
const ENTRY = { required: boolean, validations: VALIDATIONS };
const ALLOWED_STRING = named("AllowedString", { ...ENTRY, value: string() });
const ALLOWED_LIST = named("AllowedStringSlice", { ...ENTRY, values: list(string()) });
const byOid = (what: string): ApiType => list(named(what, { ...ENTRY, oid: string(), values: list(string()) }));

const ALLOWED = named("Allowed", {
  commonName: ALLOWED_STRING,
  dnsNames: ALLOWED_LIST,
  ipAddresses: ALLOWED_LIST,
  uris: ALLOWED_LIST,
  emailAddresses: ALLOWED_LIST,
  isCA: boolean,
  usages: list(string("v1.KeyUsage")),
  subject: named("AllowedX509Subject", {
    ...Object.fromEntries(SUBJECT_LISTS.map((name) => [name, ALLOWED_LIST])),
    serialNumber: ALLOWED_STRING,
    otherAttributes: byOid("AllowedSubjectOtherAttribute"),
  }),
  otherNames: byOid("AllowedOtherName"),
});

/** An integer of Go's type `int`, which its messages name. */
const INT = { ...integer, go: "int" };

const CONSTRAINTS = named("Constraints", {
  minDuration: DURATION,
  maxDuration: DURATION,
  privateKey: named("ConstraintsPrivateKey", {
    algorithm: string("v1.PrivateKeyAlgorithm"),
    minSize: INT,
    maxSize: INT,
  }),
});

const SELECTOR = named("Selector", {
  issuerRef: named("SelectorIssuerRef", { name: string(), kind: string(), group: string() }),
  namespace: named("SelectorNamespace", { matchNames: list(string()), matchLabels: map(string()) }),
});

const POLICY = named("", {
  kind: string(),
  apiVersion: string(),
  metadata: OBJECT_META,
  spec: named("Spec", {
    allowed: ALLOWED,
    constraints: CONSTRAINTS,
    plugins: map(named("PluginData", { values: map(string()) })),
    selector: SELECTOR,
  }),
  status: named("Status", { conditions: list(CONDITION) }),
});

/** Decodes a policy as it is stored, whether or not it would be admitted. Its kind is not checked. */
export function decodePolicy(value: unknown): DecodedPolicy {
  const decoded = decodeLeniently(value, POLICY);
  if (!decoded.ok) return { ok: false, path: decoded.failure.path, text: decoded.failure.text };
  return { ok: true, policy: policyOf(decoded.value) };
}

// From here on every value has its type or is absent: decoding has checked it.

function policyOf(object: unknown): CertificateRequestPolicy {
  const spec = member(object, "spec");
  const allowed = objectAt(spec, "allowed");
  const constraints = objectAt(spec, "constraints");
  return {
    name: nameOf(object),
    ...(allowed && { allowed: allowedOf(allowed) }),
    ...(constraints && { constraints: constraintsOf(constraints) }),
    selector: selectorOf(member(spec, "selector")),
    plugins: Object.keys(objectAt(spec, "plugins") ?? {}).sort(compareNames),
    ready: readyOf(member(member(object, "status"), "conditions")),
  };
}

function allowedOf(written: JsonObject): Allowed {
  const subject = objectAt(written, "subject");
  return {
    ...present("commonName", allowedString(written.commonName)),
    ...present("dnsNames", allowedList(written.dnsNames)),
    ...present("ipAddresses", allowedList(written.ipAddresses)),
    ...present("uris", allowedList(written.uris)),
    ...present("emailAddresses", allowedList(written.emailAddresses)),
    ...present("isCA", written.isCA as boolean | undefined),
    ...present("usages", written.usages as readonly string[] | undefined),
    ...present("subject", subject && subjectOf(subject)),
    otherNames: listAt(written, "otherNames").map(allowedByOid),
  };
}

function subjectOf(written: JsonObject): AllowedSubject {
  const lists: Partial<Record<SubjectList, AllowedList>> = {};
  for (const name of SUBJECT_LISTS) {
    const entry = allowedList(written[name]);
    if (entry !== undefined) lists[name] = entry;
  }
  return {
    ...lists,
    ...present("serialNumber", allowedString(written.serialNumber)),
    otherAttributes: listAt(written, "otherAttributes").map(allowedByOid),
  };
}

function allowedString(written: unknown): AllowedString | undefined {
  if (!isObject(written)) return undefined;
  return { ...entryOf(written), ...present("value", written.value as string | undefined) };
}

function allowedList(written: unknown): AllowedList | undefined {
  if (!isObject(written)) return undefined;
  return { ...entryOf(written), ...present("values", written.values as readonly string[] | undefined) };
}

const allowedByOid = (written: JsonObject): AllowedByOid => ({
  ...entryOf(written),
  ...present("values", written.values as readonly string[] | undefined),
  oid: text(written, "oid"),
});

const entryOf = (written: JsonObject): Pick<AllowedList, "required" | "validations"> => ({
  required: written.required === true,
  validations: listAt(written, "validations").map((rule) => ({
    rule: text(rule, "rule"),
    ...present("message", member(rule, "message") as string | undefined),
  })),
});

function constraintsOf(written: JsonObject): Constraints {
  const key = objectAt(written, "privateKey");
  return {
    ...present("minDuration", durationAt(written, "minDuration")),
    ...present("maxDuration", durationAt(written, "maxDuration")),
    ...(key && { privateKey: key as NonNullable<Constraints["privateKey"]> }),
  };
}

function durationAt(written: JsonObject, key: string): bigint | undefined {
  const duration = typeof written[key] === "string" ? parseGoDuration(written[key]) : undefined;
  return duration?.ok ? duration.nanos : undefined;
}

function selectorOf(written: unknown): Selector {
  const issuerRef = objectAt(written, "issuerRef");
  const namespace = objectAt(written, "namespace");
  return {
    ...(issuerRef && { issuerRef: issuerRef as NonNullable<Selector["issuerRef"]> }),
    ...(namespace && {
      namespace: {
        matchNames: (namespace.matchNames ?? []) as readonly string[],
        ...present("matchLabels", namespace.matchLabels as Readonly<Record<string, string>> | undefined),
      },
    }),
  };
}

/** The status of the `Ready` condition; if there are several, one that is true is enough. */
function readyOf(conditions: unknown): string | undefined {
  if (!Array.isArray(conditions)) return undefined;
  const statuses = conditions.filter((each) => text(each, "type") === "Ready").map((each) => text(each, "status"));
  return statuses.includes("True") ? "True" : statuses[0];
}

const objectAt = (owner: unknown, key: string): JsonObject | undefined => {
  const found = member(owner, key);
  return isObject(found) ? found : undefined;
};

const listAt = (owner: unknown, key: string): readonly JsonObject[] => {
  const found = member(owner, key);
  return Array.isArray(found) ? found : [];
};

/** A member, unless it is absent: absent and empty differ here. */
const present = <K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [key in K]: V });
