/** Policies of a cluster that are documents for one kind, with the documents that belong to them. */
import { Origin } from "../documents/origin.js";
import type { Problem } from "../documents/problem.js";
import type { SourceDocument } from "../documents/source-document.js";
import type { ResourceEntry } from "../entry.js";
import { type DocumentHead, readDocument } from "./document-reader.js";
import type { ReadEntry } from "./kubewarden-entry.js";
import { ADMISSION_GROUP, KYVERNO_GROUP, OLD_KYVERNO_GROUP } from "./policy-ids.js";

/** Words of which every policy with context entries contains one, in an expression or as a key: the name of the entry may be computed. */
const CONTEXT_WORDS = ["globalContext", "globalReference"];

/** Kinds of policies that may change objects. */
const MUTATING_KINDS: ReadonlySet<string> = new Set(["MutatingAdmissionPolicy", "ClusterPolicy", "Policy"]);

/** The word for all namespaces. */
const EVERYWHERE = "*";

/** Whether PolicyExceptions of a namespace count (spec kyverno.md 5.1), which exempt from policies of the whole cluster: so the operator decides where they do. */
export const countsIn = (exceptionNamespaces: ReadonlySet<string>, namespace: string): boolean =>
  exceptionNamespaces.has(EVERYWHERE) || exceptionNamespaces.has(namespace);

/** Documents that belong to policies, by the policies. */
export interface Companions {
  /** Bindings of ValidatingAdmissionPolicies and MutatingAdmissionPolicies, by the kind and the name of the policy. */
  readonly bindings: ReadonlyMap<string, readonly DocumentHead[]>;
  /** PolicyExceptions, by the kind and the name of the policy. */
  readonly exceptions: ReadonlyMap<string, readonly DocumentHead[]>;
  /** PolicyExceptions of the old language, by the policy: its name, or `<namespace>/<name>`. */
  readonly oldExceptions: ReadonlyMap<string, readonly DocumentHead[]>;
  /** All GlobalContextEntries. */
  readonly contextEntries: readonly DocumentHead[];
}

/**
 * Collects the documents that belong to policies.
 * @param exceptionNamespaces the namespaces whose PolicyExceptions count
 */
export function companionsOf(heads: readonly DocumentHead[], exceptionNamespaces: ReadonlySet<string>): Companions {
  const bindings = new Map<string, DocumentHead[]>();
  const exceptions = new Map<string, DocumentHead[]>();
  const oldExceptions = new Map<string, DocumentHead[]>();
  const contextEntries: DocumentHead[] = [];
  for (const head of heads) {
    const { group, kind } = head.key;
    const { policyName, policyRefs } = head.facts;
    if (group === ADMISSION_GROUP && kind.endsWith("PolicyBinding"))
      add(bindings, `${kind.slice(0, -"Binding".length)} ${policyName}`, head);
    if (group === OLD_KYVERNO_GROUP && kind === "GlobalContextEntry") contextEntries.push(head);
    if (kind !== "PolicyException" || !countsIn(exceptionNamespaces, head.key.namespace)) continue;
    if (group === KYVERNO_GROUP) for (const each of new Set(policyRefs)) add(exceptions, each, head);
    if (group === OLD_KYVERNO_GROUP) for (const each of new Set(policyRefs)) add(oldExceptions, each, head);
  }
  return { bindings, exceptions, oldExceptions, contextEntries };
}

/** The documents that belong to a policy, in order. */
export function companionsFor({ key, document }: DocumentHead, all: Companions): readonly DocumentHead[] {
  const name = `${key.kind} ${key.name}`;
  if (key.group === ADMISSION_GROUP) return all.bindings.get(name) ?? [];
  const isOld = key.group === OLD_KYVERNO_GROUP;
  if (key.group !== KYVERNO_GROUP && !isOld) return [];
  const entries = CONTEXT_WORDS.some((word) => document.text.includes(word)) ? all.contextEntries : [];
  const exceptions = isOld ? exceptionsFromRules(key, all) : (all.exceptions.get(name) ?? []);
  return [...exceptions, ...entries];
}

/** The exceptions from a policy of the old language: those that name it, and those that name a policy which one of its rules becomes (`NAME`, `NAME-RULE`). */
function exceptionsFromRules(
  { namespace, name }: DocumentHead["key"],
  { oldExceptions, exceptions }: Companions,
): readonly DocumentHead[] {
  const kind = namespace === "" ? "ValidatingPolicy" : "NamespacedValidatingPolicy";
  const ofRules = [...exceptions].flatMap(([policy, heads]) =>
    policy === `${kind} ${name}` || policy.startsWith(`${kind} ${name}-`) ? heads : [],
  );
  return [...(oldExceptions.get(namespace === "" ? name : `${namespace}/${name}`) ?? []), ...new Set(ofRules)];
}

/**
 * The entry of policies with their companions; not yet confined.
 * @param policies those that decide together; the first one is the place of problems that concern all
 */
export function documentsEntry(
  id: string,
  policies: readonly DocumentHead[],
  companions: readonly DocumentHead[],
): ReadEntry {
  const problems: Problem[] = [];
  const documents: SourceDocument[] = [];
  for (const head of [...policies, ...companions]) {
    const read = readDocument(head);
    if ("document" in read) documents.push(read.document);
    else problems.push(...read.problems);
  }
  const [first] = documents;
  if (first === undefined || problems.length > 0) return { entry: undefined, problems };
  const { kind } = policies[0]?.key ?? { kind: "" };
  const entry: ResourceEntry = {
    kind: "resource",
    id,
    origin: new Origin(first, []),
    documents: Object.freeze(documents),
    policyMode: "protect",
    // In a cluster the policy alone decides whether objects are changed.
    allowedToMutate: MUTATING_KINDS.has(kind),
    // The API server has stored the broken one: it must not prevent the others from acting.
    ...(kind === "CertificateRequestPolicy" && { certificateRequests: { invalidPolicies: "keep" } }),
    optionalCompanions: true,
  };
  return { entry: Object.freeze(entry), problems };
}

function add(map: Map<string, DocumentHead[]>, name: string, head: DocumentHead): void {
  const known = map.get(name);
  if (known === undefined) map.set(name, [head]);
  else known.push(head);
}
