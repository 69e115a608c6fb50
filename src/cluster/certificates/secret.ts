/** The Secret that certificates are kept in: ours, cert-manager's, or somebody's. */
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import { bundleText, type CertificateContent, ContentError, readContent } from "./content.js";

/** A Secret with this annotation is ours: it may be written. */
export const MANAGED = "policy-server.admission/managed";
/** Whoever changes it asks for a new authority; the value means nothing. */
export const ROTATE = "policy-server.admission/rotate-certificates";
/** The value for which a new authority was made. */
const ROTATED = "policy-server.admission/rotated-certificates";
/** Set by cert-manager on each Secret that it fills, whoever has made it. */
const CERT_MANAGER = "cert-manager.io/certificate-name";

const CERTIFICATE = "tls.crt";
const KEY = "tls.key";
const BUNDLE = "ca.crt";
const AUTHORITY_KEY = "ca.key";
const NEXT_KEY = "next-ca.key";
const OURS: readonly string[] = [CERTIFICATE, KEY, BUNDLE, AUTHORITY_KEY, NEXT_KEY];

/** Where it is. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** What a Secret of ours is to hold. */
export interface SecretData {
  readonly certificate: string;
  readonly key: string;
  /** The one that signs first. */
  readonly bundle: readonly { readonly pem: string }[];
  readonly authorityKey?: string;
  /** Of the authority of the bundle that is to sign next. */
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
  /** Set when somebody has asked for a new authority and none was made since. */
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
 * A Secret to be created. Nobody owns it: what it would go with may be made anew (a ClusterRole restored from a backup is another one), and with it would go the key
 * of the authority that webhooks trust.
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
 * A Secret of ours with other data, of the same version: what others have added stays.
 * @param done the request for a new authority that is answered by this
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
