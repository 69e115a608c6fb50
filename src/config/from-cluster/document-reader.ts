import { createHash } from "node:crypto";
import { parseJson, stringifyJson } from "../../data/json.js";
import { isJsonObject } from "../../data/same-value.js";
import type { Problem } from "../documents/problem.js";
import { parseResources, printedDocument, type SourceDocument } from "../documents/source-document.js";
import type { ClusterDocument } from "./cluster-document.js";
import { parseKey, policyIdOf, type ResourceKey, shownName } from "./policy-ids.js";

/** The parts of a document that are needed with every change: read once for each version of it. */
export interface DocumentHead {
  readonly document: ClusterDocument;
  readonly key: ResourceKey;
  /** Its name in messages; the file of its problems. */
  readonly file: string;
  /** The id under which it is served; absent: it is not a policy. */
  readonly id?: string;
  readonly facts: DocumentFacts;
  /** The hash of all inputs of a policy: without parts that change by themselves, such as resourceVersion and status. */
  readonly hash: string;
}

/** The facts about documents that are needed before it is known whether the documents are: their values are not kept. */
export interface DocumentFacts {
  /** `spec.policyServer`; absent: it names none. */
  readonly policyServer?: unknown;
  /** `spec.policyName` of a binding. */
  readonly policyName: string;
  /** The policies that an exception names: kind and name; one of the old language only names. */
  readonly policyRefs: readonly string[];
  /** The policy of the old language that a policy was converted from, as `convert` notes it: `ClusterPolicy/NAME`, `Policy/NAMESPACE/NAME`. */
  readonly convertedFrom?: string;
}

/** A document with its places, or the problem of reading it. */
export type ReadDocument = { readonly document: SourceDocument } | { readonly problems: readonly Problem[] };

/** Parts of `metadata` that do not express an author's intention. */
const VOLATILE: ReadonlySet<string> = new Set([
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
]);

/** The annotation of policies that `convert` has written. */
const CONVERTED_FROM = "policy-server/converted-from";

/** Reads documents, each version of one once. */
export class DocumentReader {
  readonly #heads = new WeakMap<ClusterDocument, DocumentHead>();

  /** The parts that are needed with every change. */
  head(document: ClusterDocument): DocumentHead {
    const known = this.#heads.get(document);
    if (known !== undefined) return known;
    const key = parseKey(document.key);
    const value = jsonOf(document.text);
    const content = contentHash(key, value ?? document.text);
    const hash = document.leftOut === undefined ? content : fingerprintOf(content, document.leftOut);
    const id = policyIdOf(key);
    const head = { document, key, file: shownName(key), ...(id !== undefined && { id }), facts: factsOf(value), hash };
    this.#heads.set(document, head);
    return head;
  }
}

/** The document with its places: not needed as long as its policy has not changed, so it is not kept. */
export function readDocument({ document: { text }, file }: DocumentHead): ReadDocument {
  const printed = printedDocument(text, file);
  if (printed !== undefined) return { document: printed };
  const { documents, problems } = parseResources(text, file);
  const [document] = documents;
  if (document !== undefined && documents.length === 1 && problems.length === 0) return { document };
  const message = text === "" ? "it can't be read in the cluster" : "the API server's answer holds no object";
  return {
    problems: problems.length > 0 ? problems : [{ severity: "error", file, line: 1, column: 1, path: [], message }],
  };
}

/** SHA-256 of separate parts. */
export function fingerprintOf(...parts: readonly unknown[]): string {
  return createHash("sha256").update(stringifyJson(parts)).digest("hex");
}

function factsOf(value: unknown): DocumentFacts {
  const spec = member(value, "spec");
  const policyServer = member(spec, "policyServer") ?? undefined;
  const refs = member(spec, "policyRefs");
  const named = Array.isArray(refs) ? refs : [];
  const exceptions = member(spec, "exceptions");
  const excepted = Array.isArray(exceptions) ? exceptions : [];
  const convertedFrom = member(member(member(value, "metadata"), "annotations"), CONVERTED_FROM);
  return {
    ...(policyServer !== undefined && { policyServer }),
    policyName: String(member(spec, "policyName") ?? ""),
    policyRefs: [
      ...named.map((ref: unknown) => `${String(member(ref, "kind"))} ${String(member(ref, "name"))}`),
      ...excepted.map((each: unknown) => String(member(each, "policyName"))),
    ],
    ...(typeof convertedFrom === "string" && { convertedFrom }),
  };
}

const member = (value: unknown, key: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

function contentHash({ kind }: ResourceKey, value: unknown): string {
  if (!isJsonObject(value)) return fingerprintOf(value);
  const { metadata, ...rest } = value;
  // Only policies of this kind may read their status; the text has none of others.
  const content = kind === "CertificateRequestPolicy" ? rest : without(rest, (key) => key === "status");
  return fingerprintOf(content, isJsonObject(metadata) ? without(metadata, (key) => VOLATILE.has(key)) : metadata);
}

const without = (value: Readonly<Record<string, unknown>>, left: (key: string) => boolean): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !left(key)));

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
