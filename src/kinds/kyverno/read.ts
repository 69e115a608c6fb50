/** Reads policies, exceptions and context entries by the schemas of their CustomResourceDefinitions (spec kyverno.md 1 and 8.1). */

import { didYouMean } from "../../data/suggest.js";
import { complete } from "../../kubernetes/custom-resource/complete.js";
import type { ObjectSchema } from "../../kubernetes/custom-resource/schema.js";
import { siblings, unknownMembers } from "../../kubernetes/custom-resource/unknown-members.js";
import { validate, validateUnique } from "../../kubernetes/custom-resource/validate.js";
import { without } from "../../kubernetes/custom-resource/without.js";
import { type FieldError, type FieldPath, formatPath, invalid } from "../../kubernetes/field-error.js";
import { dns1123LabelErrors } from "../../kubernetes/name-formats.js";
import { compareNames } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import { decode, decodeLeniently } from "../shared/decode/api-type.js";
import { OBJECT_META } from "../shared/decode/object-meta.js";
import { validateMetadata } from "../shared/decode/validate-metadata.js";
import { CONTEXT_ENTRY_SCHEMA, EXCEPTION_SCHEMA, IMAGE_SCHEMA, MUTATING_SCHEMA, POLICY_SCHEMA } from "./api-types.js";
import { expiryOf, isUnreadable } from "./expiry.js";
import {
  CONTEXT_ENTRY_KIND,
  CONTEXT_GROUP,
  type ContextEntryResource,
  EXCEPTION_KIND,
  type ExceptionResource,
  GROUP,
  IMAGE_KIND,
  type Metadata,
  MUTATING_KIND,
  NAMESPACED_IMAGE_KIND,
  NAMESPACED_MUTATING_KIND,
  NAMESPACED_POLICY_KIND,
  POLICY_KIND,
  type PolicyResource,
} from "./resource.js";

// Replacements of members that an older design or another kind of policies had (spec kyverno.md 1.5).

const ACTIONS = "use spec.validationActions instead: [Deny] for Enforce, [Audit] for Audit";
const PARAMETERS = "policies have no parameters: use resource.Get(...) or globalContext.Get(...) instead";

const POLICY_HINTS: ReadonlyMap<string, string> = new Map([
  ["spec.failureAction", ACTIONS],
  ["spec.validationFailureAction", ACTIONS],
  ["spec.validations.failureAction", ACTIONS],
  ["spec.failureActionOverrides", "use two policies with a namespaceSelector, match conditions or exceptions instead"],
  ["spec.webhookConfiguration.failurePolicy", "use spec.failurePolicy instead"],
  ["spec.webhookConfiguration.matchConditions", "use spec.matchConditions instead"],
  ["spec.webhookConfiguration.matchPolicy", "use spec.matchConstraints.matchPolicy instead"],
  ["spec.webhookTimeoutSeconds", "use spec.webhookConfiguration.timeoutSeconds instead"],
  ["spec.background", "use spec.evaluation.background.enabled instead"],
  ["spec.admission", "use spec.evaluation.admission.enabled instead"],
  ["spec.params", PARAMETERS],
  ["spec.paramKind", PARAMETERS],
  ["spec.paramRef", PARAMETERS],
  ["spec.rules", "use spec.validations instead"],
  ["spec.images", "use parseImageReference(...) or image.GetMetadata(...) instead, or an ImageValidatingPolicy"],
  ["spec.attestors", "only an ImageValidatingPolicy has attestors"],
]);

const MUTATIONS = "use spec.mutations instead: JSON patches or apply configurations in CEL";
const MUTATING_HINTS: ReadonlyMap<string, string> = new Map([
  ...POLICY_HINTS,
  ["spec.rules", MUTATIONS],
  ["spec.mutate", MUTATIONS],
  ["spec.mutateExistingOnPolicyUpdate", "use spec.evaluation.mutateExisting.enabled instead"],
  ["spec.validations", "only a ValidatingPolicy has validations"],
  ["spec.validationActions", "a mutating policy has spec.failurePolicy only"],
]);

const MATCHES = "use spec.matchImageReferences instead: globs, or expressions over `ref`";
const CONFIGURED = "use spec.validationConfigurations instead";
const IMAGE_HINTS: ReadonlyMap<string, string> = new Map([
  ...POLICY_HINTS,
  ["spec.rules", "use spec.attestors and spec.validations instead"],
  ["spec.verifyImages", "use spec.attestors and spec.validations instead"],
  ["spec.imageReferences", MATCHES],
  ["spec.imageExtractors", "use spec.images instead"],
  ["spec.mutateDigest", CONFIGURED],
  ["spec.verifyDigest", CONFIGURED],
  ["spec.required", CONFIGURED],
  ["spec.imageRegistryCredentials", "use spec.credentials instead"],
  ["spec.attestors.entries", "each is an attestor of its own: count them with verifyImageSignatures(image, [...])"],
  ["spec.attestations.predicateType", "use intoto.type instead"],
]);

/** The members of which exactly one is needed, by the member that has them. */
const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ["attestors", "cosign and notary"],
  ["matchImageReferences", "glob and expression"],
  ["spec", "kubernetesResource and apiCall"],
]);

const POLICY_REFS = "use spec.policyRefs instead: a list of names and kinds";
const EXCEPTION_HINTS: ReadonlyMap<string, string> = new Map([
  ["spec.policyNames", POLICY_REFS],
  ["spec.exceptions", POLICY_REFS],
  ["spec.policyRefs.namespace", "policies are named without their namespace"],
  ["spec.matchConstraints", "use spec.matchConditions instead"],
  ["spec.match", "use spec.matchConditions instead"],
  ["spec.conditions", "use spec.matchConditions instead"],
]);

const HINTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [POLICY_KIND, POLICY_HINTS],
  [NAMESPACED_POLICY_KIND, POLICY_HINTS],
  [MUTATING_KIND, MUTATING_HINTS],
  [NAMESPACED_MUTATING_KIND, MUTATING_HINTS],
  [IMAGE_KIND, IMAGE_HINTS],
  [NAMESPACED_IMAGE_KIND, IMAGE_HINTS],
  [EXCEPTION_KIND, EXCEPTION_HINTS],
]);

/** The member that an unknown one probably means; `undefined` when none is likely. */
function hintFor(kind: string, path: FieldPath, schema: ObjectSchema): string | undefined {
  const members = formatPath(path.filter((part) => typeof part === "string"));
  const known = HINTS.get(kind)?.get(members);
  if (known !== undefined) return known;
  const suggestion = didYouMean(String(path.at(-1)), siblings(path, schema)).trim();
  return suggestion === "" ? undefined : suggestion;
}

// `metadata` as the API server decodes it: by its Go type, the same for all kinds.

/** The decoded metadata; or the value that does not fit. */
type ReadMetadata =
  | { readonly ok: true; readonly value: Metadata; readonly unknown: readonly FieldPath[] }
  | { readonly ok: false; readonly path: FieldPath; readonly text: string };

/** Decodes `metadata`, which may be missing. */
function readMetadata(metadata: unknown): ReadMetadata {
  const sorted = isObject(metadata) ? sortedByName(metadata) : metadata;
  const decoded = decodeLeniently(sorted, OBJECT_META);
  if (!decoded.ok) return { ok: false, path: ["metadata", ...decoded.failure.path], text: decoded.failure.text };
  const strict = decode(sorted, OBJECT_META);
  const unknown = strict.ok ? [] : strict.failure.unknown;
  return { ok: true, value: (decoded.value ?? {}) as Metadata, unknown: unknown.map((path) => ["metadata", ...path]) };
}

/** The object with sorted members: the reference decodes them in this order, and stops at the first of a wrong type. */
const sortedByName = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => compareNames(a, b)));

/** The mistakes of names and labels. An object without a namespace is in `default`; a cluster-scoped one may name any. */
function validateNames(metadata: Metadata, namespaced: boolean): FieldError[] {
  const errors = validateMetadata(metadata);
  const { namespace = "" } = metadata;
  if (!namespaced || namespace === "") return errors;
  const path = ["metadata", "namespace"];
  const wrong = dns1123LabelErrors(namespace).map((error) => invalid(path, namespace, error));
  const after = errors.findIndex(({ path: [, member] }) => member !== "name" && member !== "generateName");
  return after < 0 ? [...errors, ...wrong] : [...errors.slice(0, after), ...wrong, ...errors.slice(after)];
}

/** An error of a document. */
export interface ReadFailure extends FieldError {
  /** Whether the member is unknown: Kyverno's command rejects the whole file for it. */
  readonly unknownField: boolean;
  /** The replacement, where the member may come from an older design. */
  readonly hint: string | undefined;
}

/** A document that cannot be read. */
export interface UnreadableDocument {
  readonly kind: "unreadable";
  /** At least one. */
  readonly failures: readonly ReadFailure[];
  /** All errors, as Kyverno's command prints them: `failed to parse document (…)` or `failed to validate resource (…)`. */
  readonly text: string;
  /** The readable part of a policy, for finding further mistakes: never to be used as a policy. */
  readonly rest?: PolicyResource;
}

/** The result of reading: one of Kyverno's documents, with its defaults and without nulls; or why it cannot be read; or a document of another kind. */
export type ReadResource =
  | { readonly kind: "policy"; readonly resource: PolicyResource }
  | { readonly kind: "exception"; readonly resource: ExceptionResource }
  | { readonly kind: "context-entry"; readonly resource: ContextEntryResource }
  | UnreadableDocument
  | { readonly kind: "other" };

/** A kind of documents. */
interface Definition {
  readonly read: "policy" | "exception" | "context-entry";
  readonly group: string;
  readonly versions: readonly string[];
  readonly namespaced: boolean;
  readonly schema: ObjectSchema;
}

const ALPHA = ["v1", "v1beta1", "v1alpha1"];
const EXCEPTION: Definition = {
  read: "exception",
  group: GROUP,
  versions: ALPHA,
  namespaced: true,
  schema: EXCEPTION_SCHEMA,
};
const POLICY: Definition = { read: "policy", group: GROUP, versions: ALPHA, namespaced: false, schema: POLICY_SCHEMA };
const MUTATING: Definition = { ...POLICY, schema: MUTATING_SCHEMA };
const IMAGES: Definition = { ...POLICY, schema: IMAGE_SCHEMA };
const DEFINITIONS: ReadonlyMap<string, Definition> = new Map([
  [POLICY_KIND, POLICY],
  [NAMESPACED_POLICY_KIND, { ...POLICY, versions: ["v1", "v1beta1"], namespaced: true }],
  [MUTATING_KIND, MUTATING],
  [NAMESPACED_MUTATING_KIND, { ...MUTATING, versions: ["v1", "v1beta1"], namespaced: true }],
  [IMAGE_KIND, IMAGES],
  [NAMESPACED_IMAGE_KIND, { ...IMAGES, versions: ["v1", "v1beta1"], namespaced: true }],
  [EXCEPTION_KIND, EXCEPTION],
  [
    CONTEXT_ENTRY_KIND,
    {
      read: "context-entry",
      group: CONTEXT_GROUP,
      versions: ["v2", "v2beta1", "v2alpha1"],
      namespaced: false,
      schema: CONTEXT_ENTRY_SCHEMA,
    },
  ],
]);

/** Reads a document. */
export function readResource(value: unknown): ReadResource {
  if (!isObject(value)) return { kind: "other" };
  const kind = text(value, "kind");
  const definition = DEFINITIONS.get(kind);
  if (definition === undefined) return { kind: "other" };
  const apiVersion = text(value, "apiVersion");
  const slash = apiVersion.indexOf("/");
  const [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
  if (group !== definition.group) {
    // The first design had policies in the same group as Kyverno's other resources; exceptions there are for other policies.
    return definition.read === "policy" && group === CONTEXT_GROUP
      ? unknownVersion(kind, apiVersion, definition)
      : { kind: "other" };
  }
  if (!definition.versions.includes(version)) return unknownVersion(kind, apiVersion, definition);
  return readAs(definition, kind, value);
}

/** The text of a failure with its hint. */
export const describeFailure = ({ text, hint }: ReadFailure): string =>
  hint === undefined ? text : `${text}: ${hint}`;

function readAs(definition: Definition, kind: string, value: JsonObject): ReadResource {
  const { read, schema, namespaced, group } = definition;
  const metadata = readMetadata(member(value, "metadata"));
  if (!metadata.ok) {
    const failure = { path: metadata.path, text: metadata.text, unknownField: false, hint: undefined };
    // The reference stops here; an author wants to know the other mistakes, too.
    const more = readAs(definition, kind, { ...value, metadata: { name: "x" } });
    const others = more.kind === "unreadable" ? more.failures : [];
    const rest = more.kind === "unreadable" ? more.rest : more.kind === "policy" ? more.resource : undefined;
    return { ...unreadable([failure, ...others], parseText(metadata.text)), ...(rest !== undefined && { rest }) };
  }
  // The other mistakes are sorted by their text, whatever the order in the file.
  const others = unknownMembers(value, schema, []).sort((a, b) => (formatPath(a) < formatPath(b) ? -1 : 1));
  const unknown = [...metadata.unknown, ...others];
  const { metadata: _, ...rest } = value;
  const completed = { ...(complete(rest, schema) as JsonObject), metadata: metadata.value };
  const errors = [
    ...validateNames(metadata.value, namespaced),
    ...validate(completed, schema, []),
    ...validateUnique(completed, schema, []),
  ];
  if (read === "exception" && errors.length === 0) {
    const expiry = expiryOf(completed as unknown as ExceptionResource);
    if (isUnreadable(expiry)) errors.push(expiry);
  }
  // The reference stops at unknown members; an author wants to know the other mistakes, too.
  if (unknown.length + errors.length > 0) {
    const left = without(rest, [...unknown, ...errors.map(({ path }) => path)]) as JsonObject;
    const found = read === "policy" ? restOf({ ...left, metadata: metadata.value }, schema) : undefined;
    const partly = found === undefined ? {} : { rest: found };
    return unknown.length > 0
      ? { ...unknownFields(unknown, errors, kind, schema), ...partly }
      : { ...invalidDocument(errors, `${kind}.${group}`, metadata.value.name ?? ""), ...partly };
  }
  if (metadata.value.name === undefined || metadata.value.name === "") {
    const message = "metadata.name was not generated";
    const failure = { path: ["metadata"], text: message, unknownField: false, hint: "give it a name" };
    return unreadable([failure], `failed to validate resource (Internal error occurred: ${message})`);
  }
  // The schema has checked everything.
  return { kind: read, resource: completed } as unknown as ReadResource;
}

/** Most times that values of wrong types are left out. */
const MOST_PASSES = 5;

/** The policy without its mistakes, with its defaults; undefined where no policy is left. */
function restOf(value: JsonObject, schema: ObjectSchema): PolicyResource | undefined {
  let left = value;
  for (let i = 0; i < MOST_PASSES; i++) {
    const { metadata, ...rest } = left;
    const completed = { ...(complete(rest, schema) as JsonObject), metadata };
    const wrong = validate(completed, schema, []).filter(({ text: what }) => isWrongType(what));
    if (wrong.length === 0) return completed as unknown as PolicyResource;
    // An item of another type is left out together with its list.
    left = without(
      left,
      wrong.map(({ path }) => (typeof path.at(-1) === "number" ? path.slice(0, -1) : path)),
    ) as JsonObject;
  }
  return undefined;
}

const isWrongType = (what: string): boolean => what.includes("must be of type") || what.includes("must be an");

const parseText = (what: string): string => `failed to parse document (${what})`;
const unreadable = (failures: readonly ReadFailure[], whole: string): UnreadableDocument => ({
  kind: "unreadable",
  failures,
  text: whole,
});

function unknownVersion(kind: string, apiVersion: string, { group, versions }: Definition): UnreadableDocument {
  const known = [
    ...new Set([...DEFINITIONS.values()].filter((each) => each.group === group).flatMap((each) => each.versions)),
  ];
  const message = known.some((version) => apiVersion === `${group}/${version}`)
    ? `kind ${kind} not found in ${apiVersion} groupversion`
    : `failed to locate OpenAPI spec for GV: ${apiVersion}`;
  const hint = `use ${group}/${versions[0] ?? ""} instead`;
  const failure = { path: ["apiVersion"], text: message, unknownField: false, hint };
  return unreadable([failure], parseText(`failed to retrieve validator: ${message}`));
}

function unknownFields(
  paths: readonly FieldPath[],
  errors: readonly FieldError[],
  kind: string,
  schema: ObjectSchema,
): UnreadableDocument {
  const message = "Invalid value: value provided for unknown field";
  const failures = paths.map((path) => ({
    path,
    text: message,
    unknownField: true,
    hint: hintFor(kind, path, schema),
  }));
  const all = [...failures, ...errors.map(invalidMember)];
  return unreadable(all, parseText(paths.map((path) => `${formatPath(path)}: ${message}`).join("\n")));
}

function invalidDocument(errors: readonly FieldError[], kind: string, name: string): UnreadableDocument {
  const texts = [
    ...new Set(errors.map(({ path, text }) => `${path.length === 0 ? "<nil>" : formatPath(path)}: ${text}`)),
  ];
  const list = texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
  return unreadable(errors.map(invalidMember), `failed to validate resource (${kind} "${name}" is invalid: ${list})`);
}

function invalidMember(error: FieldError): ReadFailure {
  // The reference names the place of a choice in the text alone.
  const [, place] = /^Invalid value: "": "(.+?)" must validate one and only one/.exec(error.text) ?? [];
  const path = place?.split(/[.[\]]+/).flatMap((part) => (/^\d+$/.test(part) ? Number(part) : part === "" ? [] : part));
  const choice =
    path &&
    `use exactly one of ${CHOICES.get(path.findLast((part) => typeof part === "string")) ?? "value and expression"}`;
  return { ...error, ...(path && { path }), unknownField: false, hint: choice ?? valueHint(error) };
}

/** The hint for an action: actions have other names in other kinds of policies. */
function valueHint({ path, text: message }: FieldError): string | undefined {
  if (path[1] !== "validationActions") return undefined;
  if (/^Unsupported value: "enforce"/i.test(message)) return 'use "Deny" instead';
  return /^Unsupported value: "(audit|warn|deny)"/i.test(message) ? "mind the capital letter" : undefined;
}
