/** Makes entries from the documents of a cluster (spec kubewarden.md 11.2), which are read only when they have changed. */
import { comparePlaces, type Problem } from "../documents/problem.js";
import type { ConfigEntry } from "../entry.js";
import type { ClusterDocument } from "./cluster-document.js";
import { type DocumentHead, DocumentReader, readDocument } from "./document-reader.js";
import { kubewardenEntry, type ReadEntry } from "./kubewarden-entry.js";
import { confine, type NamespacedLimits } from "./namespaced-limits.js";
import {
  ADMISSION_GROUP,
  KUBEWARDEN_GROUP,
  KYVERNO_GROUP,
  NAMESPACED_POLICY_KINDS,
  type NamespacedPolicyKind,
  OLD_KYVERNO_GROUP,
} from "./policy-ids.js";
import { type FetchTerms, type PolicyServerParts, readPolicyServer } from "./policy-server.js";
import { type Companions, companionsFor, companionsOf, documentsEntry } from "./resource-entries.js";

/** A policy of the cluster, before it is read. */
export interface ClusterEntry {
  /** The id under which it is served. */
  readonly id: string;
  /** Its policies: one, or several that decide together; in order of their keys. */
  readonly policies: readonly EntryDocument[];
  /** The fingerprint of all its inputs: documents, terms, limits. Equal ones make equal policies. */
  readonly fingerprint: string;
  /** The fingerprint of its limits, whatever its documents: a version that was valid under other terms need not be under these. Part of the fingerprint. */
  readonly terms: string;
  /** The namespace that it is confined to; absent: it is for the whole cluster. */
  readonly namespace?: string;
  /** Reads it. The errors are in an invalid entry, too. */
  read(): { readonly entry: ConfigEntry; readonly problems: readonly Problem[] };
}

/** A document of an entry. */
export interface EntryDocument {
  readonly key: string;
  readonly generation: number;
  /** Its name as the file of problems. */
  readonly file: string;
}

/** The policies of a state of the cluster. */
export interface ClusterEntries {
  /** The entries by id. */
  readonly entries: readonly ClusterEntry[];
  /** How modules are fetched for them. */
  readonly terms: FetchTerms;
}

/** Selects this server's policies of a cluster, and sets their limits. */
export interface ClusterEntryOptions {
  /** The name in `spec.policyServer` of Kubewarden's policies, and of the PolicyServer. */
  readonly policyServer: string;
  /** Limits of policies in namespaces. */
  readonly namespaced: NamespacedLimits;
  /** Whether Kyverno's policies of the old language are read; default no. */
  readonly kyvernoClusterPolicies?: boolean;
  /** Namespaces whose PolicyExceptions count; `*`: all. */
  readonly exceptionNamespaces: ReadonlySet<string>;
}

/** Makes entries; it keeps what it has read of a document as long as that does not change. */
export class ClusterEntryReader {
  readonly #reader = new DocumentReader();
  readonly #options: ClusterEntryOptions;

  constructor(options: ClusterEntryOptions) {
    this.#options = options;
  }

  /** The entries of all policies among the documents that are for this server. */
  entries(documents: ReadonlyMap<string, ClusterDocument>): ClusterEntries {
    const heads = [...documents.values()].map((document) => this.#reader.head(document)).sort(byKey);
    const server = readPolicyServer(heads, this.#options.policyServer);
    const companions = companionsOf(heads, this.#options.exceptionNamespaces);
    const newForms = newFormsOf(heads);
    // Only policies about CertificateRequests share one id.
    const chosen = new Map<string, DocumentHead[]>();
    for (const head of heads) {
      const { id } = head;
      if (id === undefined || !this.#isOurs(head, companions)) continue;
      const others = chosen.get(id);
      if (others === undefined) chosen.set(id, [head]);
      else others.push(head);
    }
    const entries = [...chosen].map(([id, policies]) => this.#entry(id, policies, companions, server, newForms));
    entries.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { entries, terms: server.terms };
  }

  /** Whether a policy is this server's: those of another server are not, and those without a binding have no effect. */
  #isOurs(head: DocumentHead, companions: Companions): boolean {
    switch (head.key.group) {
      case KUBEWARDEN_GROUP:
        return (head.facts.policyServer ?? DEFAULT_SERVER) === this.#options.policyServer;
      case ADMISSION_GROUP:
        return companionsFor(head, companions).length > 0;
      default:
        return true;
    }
  }

  #entry(
    id: string,
    policies: readonly DocumentHead[],
    all: Companions,
    server: PolicyServerParts,
    newForms: ReadonlyMap<string, string>,
  ): ClusterEntry {
    const [{ key }] = policies as [DocumentHead];
    const newForm = key.group === OLD_KYVERNO_GROUP ? newForms.get(identityOf(key)) : undefined;
    const namespace = isNamespaced(key.kind) ? key.namespace : undefined;
    const modules = key.group === KUBEWARDEN_GROUP;
    const companions = policies.flatMap((head) => companionsFor(head, all));
    const made = [...policies, ...companions].map(({ document, hash }) => `${document.key} ${hash}`).join("\n");
    const leftOut = policies.find(({ document }) => document.leftOut !== undefined)?.document.leftOut;
    const held = modules ? (namespace === undefined ? server.fingerprint : server.namespacedFingerprint) : "";
    // For an omitted one no former version is served either: not all replicas would have one.
    const terms = leftOut === undefined ? held : `${held} ${leftOut}`;
    return {
      id,
      policies: policies.map(documentOf),
      fingerprint: `${terms}\n${made}${newForm === undefined ? "" : `\n${newForm}`}`,
      terms,
      ...(namespace !== undefined && { namespace }),
      read: () => {
        const read = this.#read(id, policies, companions, server, namespace);
        return finished(id, policies, newForm === undefined ? read : warned(read, newForm));
      },
    };
  }

  #read(
    id: string,
    policies: readonly DocumentHead[],
    companions: readonly DocumentHead[],
    server: PolicyServerParts,
    namespace: string | undefined,
  ): ReadEntry {
    const [head] = policies as [DocumentHead];
    const { kind, group } = head.key;
    const { leftOut } = head.document;
    if (leftOut !== undefined) return refuse(head, [], leftOut);
    const limits = this.#options.namespaced;
    if (namespace !== undefined && limits.kinds !== undefined && !limits.kinds.has(kind as NamespacedPolicyKind)) {
      const served = [...limits.kinds].join(", ") || "none";
      return refuse(head, ["kind"], `policies of this kind are not served here (of namespaced ones: ${served})`);
    }
    if (group !== KUBEWARDEN_GROUP) return confined(documentsEntry(id, policies, companions), namespace, [], limits);
    const { modulesRefused, namespacedRefused, namespacedCapabilities } = server;
    const refused = modulesRefused ?? (namespace === undefined ? undefined : namespacedRefused);
    if (refused !== undefined)
      return refuse(head, ["spec"], `nothing is loaded by a PolicyServer with mistakes: ${refused}`);
    const capabilities = namespace === undefined ? EVERYTHING : (namespacedCapabilities ?? EVERYTHING);
    const read = readDocument(head);
    if ("problems" in read) return { entry: undefined, problems: read.problems };
    return confined(kubewardenEntry(read.document, id, capabilities), namespace, capabilities, limits);
  }
}

/** How a policy of the old language is named in annotations, and in {@link newFormsOf}. */
const identityOf = ({ kind, namespace, name }: DocumentHead["key"]): string =>
  namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;

/** Kyverno's policies of the new kinds, by the policies of the old language that they were converted from, or whose name they have. */
function newFormsOf(heads: readonly DocumentHead[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { key, file, facts } of heads) {
    if (key.group !== KYVERNO_GROUP || key.kind === "PolicyException") continue;
    const kind = key.namespace === "" ? "ClusterPolicy" : "Policy";
    for (const old of [identityOf({ ...key, kind }), facts.convertedFrom ?? ""]) found.set(old, file);
  }
  return found;
}

/** With a warning that the same policy is there in its new form. */
function warned({ entry, problems }: ReadEntry, newForm: string): ReadEntry {
  if (entry?.kind !== "resource") return { entry, problems };
  const message = `the same policy is there as ${newForm}: both are asked, so delete this one when the other is right`;
  return { entry, problems: [...problems, entry.origin.warning(["metadata", "name"], message)] };
}

/** The server of policies that name none (spec kubewarden.md 11.1). */
const DEFAULT_SERVER = "default";
/** The host capabilities of cluster-wide policies (spec kubewarden.md 11.2). */
const EVERYTHING: readonly string[] = Object.freeze(["*"]);

const isNamespaced = (kind: string): boolean => (NAMESPACED_POLICY_KINDS as readonly string[]).includes(kind);

const byKey = (a: DocumentHead, b: DocumentHead): number => (a.document.key < b.document.key ? -1 : 1);

const documentOf = ({ document: { key, generation }, file }: DocumentHead): EntryDocument => ({
  key,
  generation,
  file,
});

function confined(
  { entry, problems }: ReadEntry,
  namespace: string | undefined,
  hostCapabilities: readonly string[],
  limits: NamespacedLimits,
): ReadEntry {
  if (entry === undefined || namespace === undefined) return { entry, problems };
  const within = confine(entry, { namespace, hostCapabilities, limits });
  return { entry: within.entry, problems: [...problems, ...within.problems] };
}

function refuse(head: DocumentHead, path: readonly string[], message: string): ReadEntry {
  const read = readDocument(head);
  if ("problems" in read) return { entry: undefined, problems: read.problems };
  return { entry: undefined, problems: [read.document.problem("error", path, message)] };
}

/** The entry; one with an error is an invalid entry. */
function finished(
  id: string,
  policies: readonly DocumentHead[],
  { entry, problems: found }: ReadEntry,
): ReturnType<ClusterEntry["read"]> {
  const problems = [...found].sort(comparePlaces);
  const errors = problems.filter(({ severity }) => severity === "error");
  if (entry !== undefined && errors.length === 0) return { entry, problems };
  const [{ file }] = policies as [DocumentHead];
  const nothing: Problem = { severity: "error", file, line: 1, column: 1, path: [], message: "it can't be read" };
  return { entry: Object.freeze({ kind: "invalid", id, problems: errors.length > 0 ? errors : [nothing] }), problems };
}
