/** The Secret of certificates: ours, cert-manager's, or another owner's. */
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import { bundleText, type CertificateContent, ContentError, readContent } from "./content.js";

/** The annotation of a Secret of ours: it may be written. */
export const MANAGED = "policy-server.admission/managed";
/** The annotation whose change asks for a new authority; its value has no meaning. */
export const ROTATE = "policy-server.admission/rotate-certificates";
/** The value for which a new authority was made. */
const ROTATED = "policy-server.admission/rotated-certificates";
/** The annotation that cert-manager sets on each Secret that it fills, whether or not it created it. */
const CERT_MANAGER = "cert-manager.io/certificate-name";

const CERTIFICATE = "tls.crt";
const KEY = "tls.key";
const BUNDLE = "ca.crt";
const AUTHORITY_KEY = "ca.key";
const NEXT_KEY = "next-ca.key";
const OURS: readonly string[] = [CERTIFICATE, KEY, BUNDLE, AUTHORITY_KEY, NEXT_KEY];

/** The namespace and name of the Secret. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The contents of a Secret of ours. */
export interface SecretData {
  readonly certificate: string;
  readonly key: string;
  /** The authorities, the signing one first. */
  readonly bundle: readonly { readonly pem: string }[];
  readonly authorityKey?: string;
  /** The key of the authority in the bundle that signs next. */
  readonly nextKey?: string;
}

/** A Secret as it was read. */
export interface SecretState {
  readonly object: JsonObject;
  /** Its `resourceVersion`. */
  readonly version: string;
  /** Whether the leader may write it. */
  readonly ours: boolean;
  /** Why it can't be used; absent in one of ours that is empty. */
  readonly problem?: string;
  readonly content?: CertificateContent;
  readonly authorityKey?: string;
  readonly nextKey?: string;
  /** The value of a request for a new authority that was not fulfilled yet. */
  readonly asked?: string;
}

/** Reads a Secret. Never throws. */
export function readSecret(object: JsonObject): SecretState {
  const metadata = member(object, "metadata");
  const annotations = member(metadata, "annotations");
  const ours = text(annotations, MANAGED) === "true" && text(annotations, CERT_MANAGER) === "";
  const rotate = text(annotations, ROTATE);
  const known = { object, version: text(metadata, "resourceVersion"), ours };
  const name = `Secret ${text(metadata, "namespace")}/${text(metadata, "name")}`;
  const data = member(object, "data");
  const [certificate, key] = [decoded(data, CERTIFICATE), decoded(data, KEY)];
  if (ours && certificate === "" && key === "") return known;
  const [authorityKey, nextKey] = [decoded(data, AUTHORITY_KEY), decoded(data, NEXT_KEY)];
  const of = (part: string): string => `${part} of ${name}`;
  try {
    const names = { certificate: of(CERTIFICATE), key: of(KEY), bundle: of(BUNDLE) };
    return {
      ...known,
      content: readContent({ certificate, key, bundle: decoded(data, BUNDLE), names }),
      ...(authorityKey !== "" && { authorityKey }),
      ...(nextKey !== "" && { nextKey }),
      ...(rotate !== "" && rotate !== text(annotations, ROTATED) && { asked: rotate }),
    };
  } catch (error) {
    if (error instanceof ContentError) return { ...known, problem: error.message };
    throw error;
  }
}

/**
 * A Secret to be created. It has no owner: with an owner that is recreated (a ClusterRole restored from a backup is another object) it would be deleted, and
 * with it the key of the authority that webhooks trust.
 */
export const newSecret = (place: SecretPlace, data: SecretData): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "kubernetes.io/tls",
  metadata: {
    ...place,
    labels: { "app.kubernetes.io/managed-by": "policy-server" },
    annotations: { [MANAGED]: "true" },
  },
  data: encoded(data),
});

/**
 * A Secret of ours with other data, based on the same version: others' additions stay.
 * @param done the request for a new authority that this fulfils
 */
export function changedSecret({ object }: SecretState, data: SecretData, done?: string): JsonObject {
  const metadata = objectIn(object, "metadata");
  const annotations = objectIn(metadata, "annotations");
  const others = Object.entries(objectIn(object, "data")).filter(([key]) => !OURS.includes(key));
  return {
    ...object,
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...metadata, annotations: { ...annotations, ...(done !== undefined && { [ROTATED]: done }) } },
    data: { ...Object.fromEntries(others), ...encoded(data) },
  };
}

function encoded({ certificate, key, bundle, authorityKey, nextKey }: SecretData): Record<string, string> {
  const base64 = (value: string): string => Buffer.from(value).toString("base64");
  return {
    [CERTIFICATE]: base64(certificate),
    [KEY]: base64(key),
    [BUNDLE]: base64(bundleText(bundle)),
    ...(authorityKey !== undefined && { [AUTHORITY_KEY]: base64(authorityKey) }),
    ...(nextKey !== undefined && { [NEXT_KEY]: base64(nextKey) }),
  };
}

const decoded = (data: unknown, key: string): string => Buffer.from(text(data, key), "base64").toString("utf8");

function objectIn(value: unknown, key: string): JsonObject {
  const found = member(value, key);
  return isObject(found) ? found : {};
}
