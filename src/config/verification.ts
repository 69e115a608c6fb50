/** verification.yml: the required signatures of modules (spec kubewarden.md 1.8). Unknown keys are errors. */

import { ConfigFileError, ConfigFiles } from "./config-files.js";
import { formatProblem, type Path } from "./documents/problem.js";
import { parseConfiguration } from "./documents/source-document.js";
import { pairOf, type SourceNode } from "./documents/source-node.js";
import { ProblemSink } from "./problem-sink.js";
import { privateKeyIn, readPublicKey } from "./public-key.js";
import { type Fields, optional, record, required } from "./record-shape.js";
import { integer, listOf, mapOf, mismatch, type Shape, text } from "./shape.js";

/** Key and value pairs that the signed payload must contain. */
type Annotations = Readonly<Record<string, string>>;

/** A signature made with a key. */
export interface PublicKeySignature {
  readonly kind: "pubKey";
  /** The owner, for people. */
  readonly owner?: string;
  /** PEM. */
  readonly key: string;
  readonly annotations?: Annotations;
}

/** A signature made with an identity that an OpenID issuer has confirmed. */
export interface IssuerSignature {
  readonly kind: "genericIssuer";
  readonly issuer: string;
  /** The identity exactly, or the start of one that is a URL; a prefix ends in `/`. */
  readonly subject: { readonly equal: string } | { readonly urlPrefix: string };
  readonly annotations?: Annotations;
}

/** A signature made by a workflow of GitHub Actions. */
export interface GithubSignature {
  readonly kind: "githubAction";
  readonly owner: string;
  /** Absent: any repository of the owner. */
  readonly repo?: string;
  readonly annotations?: Annotations;
}

/** A required signature. */
export type WantedSignature = PublicKeySignature | IssuerSignature | GithubSignature;

/** The requirements; both lists when both are present. At least one is, and none is empty. */
export interface VerificationConfig {
  readonly allOf?: readonly WantedSignature[];
  readonly anyOf?: { readonly minimumMatches: number; readonly signatures: readonly WantedSignature[] };
}

const kind = required(text("a kind of signature"), "Kind of signature.");
const annotations = optional(mapOf(text("a string", { mayBeEmpty: true })), "What the signed payload must contain.");

const subject: Shape<{ readonly equal: string } | { readonly urlPrefix: string }> = {
  label: "map with `equal` or `urlPrefix`",
  schema: {},
  read(node, path, sink) {
    const fields = record({
      equal: optional(text("an identity"), "The identity exactly."),
      urlPrefix: optional(text("a URL"), "The start of the identity."),
    }).read(node, path, sink);
    if (fields === undefined) return undefined;
    const { equal, urlPrefix } = fields;
    if ((equal === undefined) === (urlPrefix === undefined)) {
      sink.error(path, "expected exactly one of equal, urlPrefix");
      return undefined;
    }
    if (equal !== undefined) return { equal };
    if (URL.canParse(urlPrefix!)) return { urlPrefix: urlPrefix!.endsWith("/") ? urlPrefix! : `${urlPrefix}/` };
    sink.error([...path, "urlPrefix"], `not a URL: ${JSON.stringify(urlPrefix)}`);
    return undefined;
  },
};

/** A public key; an unreadable one would otherwise only be noticed at the first download. */
const publicKey: Shape<string> = {
  ...text("a public key in PEM"),
  read(node, path, sink) {
    const pem = text("a public key in PEM").read(node, path, sink);
    if (pem === undefined || readPublicKey(pem) !== undefined) return pem;
    sink.error(path, "expected a public key in PEM");
    return undefined;
  },
};

const SIGNATURES: Readonly<Record<WantedSignature["kind"], Fields>> = {
  pubKey: {
    kind,
    owner: optional(text("a name"), "For people."),
    key: required(publicKey, "The key."),
    annotations,
  },
  genericIssuer: {
    kind,
    issuer: required(text("a URL"), "The OpenID issuer."),
    subject: required(subject, "The identity."),
    annotations,
  },
  githubAction: {
    kind,
    owner: required(text("a name"), "Owner of the repository."),
    repo: optional(text("a name"), "The repository."),
    annotations,
  },
};

const signature: Shape<WantedSignature> = {
  label: "signature",
  schema: {},
  read(node: SourceNode, path: Path, sink: ProblemSink) {
    if (node.kind !== "map") return mismatch(node, path, sink, "a map");
    const named = pairOf(node, "kind")?.value;
    const name = named?.kind === "scalar" ? String(named.value) : "";
    if (Object.hasOwn(SIGNATURES, name)) {
      return record(SIGNATURES[name as WantedSignature["kind"]]).read(node, path, sink) as WantedSignature | undefined;
    }
    sink.error([...path, "kind"], `expected one of ${Object.keys(SIGNATURES).join(", ")}`);
    return undefined;
  },
};

/** A list of signatures; an empty one would let everything pass. */
const signatures: Shape<readonly WantedSignature[]> = {
  ...listOf(signature),
  read(node, path, sink) {
    const list = listOf(signature).read(node, path, sink);
    if (list === undefined || list.length > 0) return list;
    sink.error(path, "must not be empty");
    return undefined;
  },
};

const alternatives = record({
  minimumMatches: optional(integer(1, 1000), "How many of them must be there.", "1"),
  signatures: required(signatures, "Signatures of which some must be there."),
});

/** Alternatives; with a minimum above the number of signatures nothing could pass. */
const anyOf: typeof alternatives = {
  ...alternatives,
  read(node, path, sink) {
    const read = alternatives.read(node, path, sink);
    const most = read?.signatures.length ?? 0;
    if (read === undefined || (read.minimumMatches ?? 1) <= most) return read;
    sink.error([...path, "minimumMatches"], `expected at most ${most}, as many as there are signatures`);
    return undefined;
  },
};

const file = record({
  apiVersion: optional(text("v1", { mayBeEmpty: true }), "Always v1."),
  allOf: optional(signatures, "Signatures that must all be there."),
  anyOf: optional(anyOf, "Signatures of which a number must be there."),
});

/**
 * Reads verification.yml.
 * @throws ConfigFileError with the texts of spec kubewarden.md 1.8
 */
export function loadVerification(path: string): VerificationConfig {
  let content: string;
  try {
    content = new ConfigFiles().read(path);
  } catch (cause) {
    throw cause instanceof ConfigFileError ? invalid(`${path}: ${cause.message}`) : cause;
  }
  return parseVerification(content, path);
}

const invalid = (reason: string) => new ConfigFileError(`Not a valid configuration file: ${reason}`);

/**
 * The same as {@link loadVerification} for a text.
 * @param name its name, for messages
 * @throws ConfigFileError
 */
export function parseVerification(content: string, name: string): VerificationConfig {
  // Before anything else is read: messages quote their subject.
  const at = privateKeyIn(content);
  if (at !== -1) {
    const line = content.slice(0, at).split("\n").length;
    throw invalid(`${name}:${line}: a private key stands here: expected public keys in PEM, and no other`);
  }
  const { document, problems } = parseConfiguration(content, name);
  if (document === undefined || problems.length > 0) throw invalid(problems.map(formatProblem).join("\n"));
  const version = document.root.kind === "map" ? pairOf(document.root, "apiVersion")?.value : undefined;
  if (version?.kind === "scalar" && version.value !== null && version.value !== "v1") {
    throw new ConfigFileError(`Not a supported configuration version: ${version.value}`);
  }
  const sink = new ProblemSink(document);
  const config = file.read(document.root, [], sink);
  if (config === undefined) throw invalid(sink.problems.map(formatProblem).join("\n"));
  const { allOf, anyOf } = config;
  if (allOf === undefined && anyOf === undefined) {
    throw new ConfigFileError("config is missing signatures in both allOf and anyOff list");
  }
  return Object.freeze({
    ...(allOf && { allOf }),
    ...(anyOf && { anyOf: { minimumMatches: anyOf.minimumMatches ?? 1, signatures: anyOf.signatures } }),
  });
}
