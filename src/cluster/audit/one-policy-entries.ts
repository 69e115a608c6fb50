/** Splits entries of several policies into entries of one each: reports are by policy, whatever file a policy is in. */

import { identityOf, opened } from "../../config/documents/documents.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { Config, ConfigEntry, ResourceEntry } from "../../config/index.js";
import { member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";

/** Policies that decide independently. Others (CertificateRequestPolicies, of which any may allow) stay together. */
const ALONE: ReadonlySet<string> = new Set([
  "policies.kyverno.io/ValidatingPolicy",
  "policies.kyverno.io/NamespacedValidatingPolicy",
  "kyverno.io/ClusterPolicy",
  "kyverno.io/Policy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
]);
/** Policies that an entry may also contain, and that keep it whole: an image may be verified by one of them for all. */
const TOGETHER: ReadonlySet<string> = new Set([
  "ImageValidatingPolicy",
  "NamespacedImageValidatingPolicy",
  "CertificateRequestPolicy",
  "MutatingAdmissionPolicy",
  "MutatingPolicy",
  "NamespacedMutatingPolicy",
]);

/**
 * The configuration with an entry for each policy. An entry that a group refers to stays whole: the group's answer depends on all of it.
 * @param referenced ids that groups refer to
 */
export const withOnePolicyEach = (config: Config, referenced: ReadonlySet<string>): Config => ({
  ...config,
  entries: config.entries.flatMap((entry) => (referenced.has(entry.id) ? [entry] : entriesOf(entry))),
});

/** Whether an entry was made of one with several policies. */
export const isOneOfSeveral = (entry: ConfigEntry): entry is ResourceEntry =>
  entry.kind === "resource" && entry.id.includes("/");

function entriesOf(entry: ConfigEntry): readonly ConfigEntry[] {
  if (entry.kind !== "resource") return [entry];
  const documents = opened(entry.documents);
  const policies = documents.filter((document) => ALONE.has(qualifiedKind(document)));
  const names = new Set(policies.map(nameIn));
  // Duplicate and missing names are reported, for the whole entry.
  const clear = names.size === policies.length && policies.every(({ value }) => nameOf(value) !== "");
  const bound = documents.some((document) => TOGETHER.has(identityOf(document).kind));
  const [only, ...others] = policies;
  if (only === undefined || !clear || bound) return [entry];
  if (others.length === 0) return byRule(entry, only);
  return policies.flatMap((policy) => byRule(entryOf(entry, documents, policy), policy));
}

/** An entry for each rule of a policy of Kyverno's old language, in whose reports each has a result of its own. */
function byRule(entry: ResourceEntry, policy: SourceDocument): readonly ResourceEntry[] {
  const rules = rulesOf(policy);
  if (rules.length < 2) return [entry];
  const id = entry.id.includes("/") ? entry.id : `${entry.id}/${nameIn(policy)}`;
  return rules.map((rule, onlyRule) => ({ ...entry, id: `${id}/${text(rule, "name")}`, onlyRule }));
}

/** The rules of a policy of Kyverno's old language; those of others are none. */
export function rulesOf({ value }: Pick<SourceDocument, "value">): readonly unknown[] {
  const rules = text(value, "apiVersion").startsWith("kyverno.io/") && member(member(value, "spec"), "rules");
  return Array.isArray(rules) ? rules : [];
}

/** Only members' ids have a slash, and a group is never an entry of resources. */
function entryOf(entry: ResourceEntry, documents: readonly SourceDocument[], policy: SourceDocument): ResourceEntry {
  return {
    ...entry,
    id: `${entry.id}/${nameIn(policy)}`,
    documents: documents.filter((each) => each === policy || isBeside(each, policy)),
  };
}

/** `<kind>/<namespace>/<name>`, as short as is unique in the entry. */
function nameIn({ value }: SourceDocument): string {
  const namespace = namespaceOf(value);
  const name = nameOf(value);
  return `${text(value, "kind")}/${namespace === "" ? name : `${namespace}/${name}`}`;
}

/** Whether a document belongs to a policy: it is not a policy itself, and does not refer only to another one. */
function isBeside(document: SourceDocument, policy: SourceDocument): boolean {
  if (ALONE.has(qualifiedKind(document))) return false;
  const spec = member(document.value, "spec");
  switch (identityOf(document).kind) {
    case "ValidatingAdmissionPolicyBinding":
      return text(spec, "policyName") === nameOf(policy.value);
    case "PolicyException": {
      // Those of the old language stay with all policies.
      const refs = member(spec, "policyRefs");
      const named = Array.isArray(refs) ? refs.map((ref: unknown) => text(ref, "name")) : undefined;
      const name = nameOf(policy.value);
      return (
        named?.some((each) => each === name || (rulesOf(policy).length > 0 && each.startsWith(`${name}-`))) ?? true
      );
    }
    default:
      return true;
  }
}

function qualifiedKind(document: SourceDocument): string {
  const { group, kind } = identityOf(document);
  return `${group}/${kind}`;
}
