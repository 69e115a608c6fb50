/** Host calls in a session file: a YAML tag and fields, spec kubewarden.md 10.2. */
import { stringifyJson } from "../../../data/json.js";
import { printYaml } from "../../../data/print-yaml.js";
import { yamlLibrary } from "../../../data/yaml-library.js";
import type { HostCallPayload } from "../executor.js";

/** A host call in the form in which it is recorded and compared. */
export interface TaggedRequest {
  readonly tag: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

const LIST_FIELDS = ["label_selector", "field_selector", "field_masks"] as const;
/** The fields of each way to verify signatures, besides image and annotations. */
const VERIFICATIONS: Readonly<Record<string, readonly string[]>> = {
  SigstorePubKeyVerify: ["pub_keys"],
  SigstoreKeylessVerify: ["keyless"],
  SigstoreKeylessPrefixVerify: ["keyless_prefix"],
  SigstoreGithubActionsVerify: ["owner", "repo"],
  SigstoreCertificateVerify: ["certificate", "certificate_chain", "require_rekor_bundle"],
};

/** The form of each operation; `payload` has passed the gates, so it has the right shape. */
const FORMS: Readonly<Record<string, (payload: unknown) => TaggedRequest>> = {
  "oci/v1/manifest_digest": (image) => ({ tag: "OciManifestDigest", fields: { image } }),
  "oci/v1/oci_manifest": (image) => ({ tag: "OciManifest", fields: { image } }),
  "oci/v1/oci_manifest_config": (image) => ({ tag: "OciManifestAndConfig", fields: { image } }),
  "oci/v1/verify": (payload) => {
    const [tag = "", fields] = Object.entries(record(payload))[0] ?? [];
    return verification(tag, record(fields));
  },
  "oci/v2/verify": (payload) => verification(String(record(payload).type), record(payload)),
  "net/v1/dns_lookup_host": (host) => ({ tag: "DNSLookupHost", fields: { host } }),
  "crypto/v1/is_certificate_trusted": (payload) => ({
    tag: "CryptoIsCertificateTrusted",
    fields: { request: pick(record(payload), ["cert", "cert_chain", "not_after"]) },
  }),
  "kubernetes/list_resources_by_namespace": (payload) => ({
    tag: "KubernetesListResourceNamespace",
    fields: pick(record(payload), ["api_version", "kind", "namespace", ...LIST_FIELDS]),
  }),
  "kubernetes/list_resources_all": (payload) => ({
    tag: "KubernetesListResourceAll",
    fields: pick(record(payload), ["api_version", "kind", ...LIST_FIELDS]),
  }),
  // Guests can't call this: the host does for OPA policies.
  "kubernetes/resource_plural_name": (payload) => ({
    tag: "KubernetesGetResourcePluralName",
    fields: pick(record(payload), ["api_version", "kind"]),
  }),
  "kubernetes/get_resource": (payload) => ({
    tag: "KubernetesGetResource",
    fields: pick(record(payload), ["api_version", "kind", "name", "namespace", "disable_cache", "field_masks"]),
  }),
  "kubernetes/can_i": (payload) => {
    const { subject_access_review, disable_cache } = record(payload);
    const review = record(subject_access_review);
    const resource_attributes = review.resource_attributes ?? review.resourceAttributes ?? {};
    return {
      tag: "KubernetesCanI",
      fields: { request: { ...pick(review, ["user", "groups"]), resource_attributes }, disable_cache },
    };
  },
};

/** The form of a call; undefined for an operation that session files do not know. */
export function taggedRequest({ namespace, operation, payload }: HostCallPayload): TaggedRequest | undefined {
  const path = `${namespace}/${operation}`;
  return Object.hasOwn(FORMS, path) ? FORMS[path]?.(payload) : undefined;
}

/** Prints a session file's `request`. */
export const formatTaggedRequest = ({ tag, fields }: TaggedRequest): string => `!${tag}\n${printYaml(fields)}`;

/**
 * Parses a session file's `request`.
 * @throws when it is not a tagged map
 */
export function parseTaggedRequest(text: string): TaggedRequest {
  const document = yamlLibrary().parseDocument(text, { logLevel: "silent" });
  const [mistake] = document.errors;
  if (mistake) throw mistake;
  const tag = document.contents?.tag;
  const fields: unknown = document.toJS();
  if (!tag?.startsWith("!") || typeof fields !== "object" || fields === null || Array.isArray(fields))
    throw new Error(`a recorded request must be a tagged map, not ${JSON.stringify(text)}`);
  return { tag: tag.slice(1), fields: fields as Record<string, unknown> };
}

/** Whether two requests are the same; null counts as absent, and the order of keys and of field masks does not count. */
export function sameRequest(a: TaggedRequest, b: TaggedRequest): boolean {
  return a.tag === b.tag && stringifyJson(canonical(a.fields)) === stringifyJson(canonical(b.fields));
}

function verification(tag: string, fields: Fields): TaggedRequest {
  const own = Object.hasOwn(VERIFICATIONS, tag) ? (VERIFICATIONS[tag] ?? []) : [];
  return { tag, fields: pick(fields, ["image", ...own, "annotations"]) };
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
}

function record(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null || value instanceof Number) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, key === "field_masks" ? setOf(member) : canonical(member)]),
  );
}

/** A list as a set: each member counts once, in any order. */
function setOf(value: unknown): unknown {
  return Array.isArray(value) ? [...new Set(value as readonly unknown[])].sort() : value;
}
