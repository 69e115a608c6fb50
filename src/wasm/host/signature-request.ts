/** Requests of guests to `oci/v1/verify` and `oci/v2/verify`, spec kubewarden.md 7.4. All listed signers are required. */
import { X509Certificate } from "node:crypto";
import { errorText } from "../../data/error-text.js";
import { jsonWeight } from "../../data/json-weight.js";
import { PublicError } from "../../data/public-text.js";
import type { RequiredSignature } from "./images.js";
import {
  booleanOf,
  bytesOf,
  listOf,
  objectOf,
  optionalList,
  optionalText,
  optionalTexts,
  PayloadError,
  textOf,
} from "./payload.js";

type Fields = Readonly<Record<string, unknown>>;
type Annotated = { readonly annotations?: Readonly<Record<string, string>> };

/** Most keys or identities of a request: each is looked for in all signatures of the image. Policies name one or two. */
const MAX_SIGNERS = 64;
/** Most certificates of a chain: real ones have two or three, and each may have to be tried as the issuer of each. */
const MAX_CHAIN = 16;
/** Largest certificate, in bytes: real ones have one to four KiB. */
const MAX_CERTIFICATE_BYTES = 32 * 1024;
/** Most bytes of the rest of a request: four times 64 keys of 800 bytes. It is compared with each signature, and written into refusals. */
const MAX_WORDS_BYTES = 256 * 1024;

/** A parsed request. */
export interface Verification {
  readonly image: string;
  readonly allOf: readonly RequiredSignature[];
}

/** The required signers of each variant. */
const VARIANTS: Readonly<Record<string, (fields: Fields, annotated: Annotated) => RequiredSignature[]>> = {
  SigstorePubKeyVerify(fields, annotated) {
    const keys = atMost(MAX_SIGNERS, listOf(fields.pub_keys, "pub_keys", textOf), "pub_keys");
    if (keys.length === 0) throw new PublicError("Must provide at least one pub key");
    return keys.map((key) => ({ kind: "pubKey", key, ...annotated }));
  },
  SigstoreKeylessVerify: (fields, annotated) =>
    identities(fields.keyless, "keyless").map((identity) => ({
      kind: "genericIssuer",
      issuer: textOf(identity.issuer, "issuer"),
      subject: { equal: textOf(identity.subject, "subject") },
      ...annotated,
    })),
  SigstoreKeylessPrefixVerify: (fields, annotated) =>
    identities(fields.keyless_prefix, "keyless_prefix").map((identity) => ({
      kind: "genericIssuer",
      issuer: textOf(identity.issuer, "issuer"),
      subject: { urlPrefix: prefix(textOf(identity.url_prefix, "url_prefix")) },
      ...annotated,
    })),
  SigstoreGithubActionsVerify(fields, annotated) {
    const owner = textOf(fields.owner, "owner");
    if (owner === "") throw new PublicError("Must provide owner info");
    const repo = optionalText(fields.repo, "repo");
    return [{ kind: "githubAction", owner, ...(repo !== undefined && { repo }), ...annotated }];
  },
  SigstoreCertificateVerify(fields, annotated) {
    const chain = optionalList(fields.certificate_chain, "certificate_chain", bytesOf);
    if (chain) atMost(MAX_CHAIN, chain, "certificate_chain");
    return [
      {
        kind: "certificate",
        certificate: certificate(bytesOf(fields.certificate, "certificate")),
        requireLogEntry: booleanOf(fields.require_rekor_bundle, "require_rekor_bundle"),
        ...(chain && { chain: chain.map(certificate) }),
        ...annotated,
      },
    ];
  },
};
const VERSION_ONE: ReadonlySet<string> = new Set(["SigstorePubKeyVerify", "SigstoreKeylessVerify"]);

/** Version 1: the variant is the only key. */
export function verificationV1(payload: unknown): Verification {
  const [tag, ...others] = Object.entries(objectOf(payload, "the request"));
  if (!tag || others.length > 0 || !VERSION_ONE.has(tag[0]))
    throw new PayloadError(`unknown variant, expected ${[...VERSION_ONE].join(" or ")}`);
  return read(tag[0], objectOf(tag[1], tag[0]));
}

/** Version 2: the variant is the field `type`. */
export function verificationV2(payload: unknown): Verification {
  const fields = objectOf(payload, "the request");
  return read(textOf(fields.type, "type"), fields);
}

function read(variant: string, fields: Fields): Verification {
  const signatures = Object.hasOwn(VARIANTS, variant) ? VARIANTS[variant] : undefined;
  if (!signatures)
    throw new PayloadError(`unknown variant \`${variant}\`, expected one of ${Object.keys(VARIANTS).join(", ")}`);
  const { certificate: _, certificate_chain: __, ...words } = fields;
  if (jsonWeight(words, MAX_WORDS_BYTES) > MAX_WORDS_BYTES) throw new PublicError("the request is too large");
  const annotations = optionalTexts(fields.annotations, "annotations");
  return { image: textOf(fields.image, "image"), allOf: signatures(fields, annotations ? { annotations } : {}) };
}

function identities(value: unknown, what: string): Fields[] {
  const list = listOf(value, what, objectOf);
  if (list.length === 0) throw new PublicError("Must provide keyless info");
  return atMost(MAX_SIGNERS, list, what);
}

function atMost<T>(count: number, list: T[], what: string): T[] {
  if (list.length > count) throw new PublicError(`${what} has ${list.length} elements, at most ${count} may be there`);
  return list;
}

/** A prefix ends at a path segment, so that `…/team` does not cover `…/team-evil`. */
function prefix(text: string): string {
  if (!URL.canParse(text)) throw new PublicError(`the URL prefix ${JSON.stringify(text)} is not a URL`);
  return text.endsWith("/") ? text : `${text}/`;
}

function certificate(bytes: Uint8Array): X509Certificate {
  if (bytes.length > MAX_CERTIFICATE_BYTES)
    throw new PublicError(`a certificate has ${bytes.length} bytes, at most ${MAX_CERTIFICATE_BYTES} may be there`);
  try {
    return new X509Certificate(bytes);
  } catch (error) {
    // The bytes are the guest's own, so the parser's message may be shown to it.
    throw new PublicError("the certificate can't be read", { cause: new PublicError(errorText(error)) });
  }
}
