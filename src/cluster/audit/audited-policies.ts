/** Finds the policies of a configuration for the background, with the objects that they match. */

import { identityOf, opened } from "../../config/documents/documents.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { type Config, type ConfigEntry, formatProblem, type GroupEntry, type PolicyEntry } from "../../config/index.js";
import { prepareSelector } from "../../kinds/shared/match/label-selector.js";
import { isObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import { plainFinding, type ReportedPolicy } from "../../offline/reports/finding.js";
import type { Outcome } from "../../policy/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { NAMESPACE_LABELS } from "../../world/needs.js";
import type { AuditedPolicy, AuditFinding, LeftOut, WebhookMatch } from "./audited-policy.js";
import { rulesOf as rulesOfPolicy, withOnePolicyEach } from "./one-policy-entries.js";
import { type TargetRule, targetRules, withoutWildcards } from "./target-rules.js";

/** Background policies of a configuration. */
export interface AuditedPolicies {
  readonly policies: readonly AuditedPolicy[];
  readonly leftOut: readonly LeftOut[];
}

const KUBEWARDEN_GROUP = "policies.kubewarden.io";
const KYVERNO_GROUP = "policies.kyverno.io";
/** The group of Kyverno's policies with rules: reports name policy and rule. */
const OLD_KYVERNO_GROUP = "kyverno.io";
const CERTIFICATE_REQUEST_POLICY_GROUP = "policy.cert-manager.io";

/** Look-ups that depend only on the object's Namespace, which rounds check. */
const SEEN: ReadonlySet<string> = new Set([NAMESPACE_LABELS.what, "`namespaceObject`"]);

/** The entries for the audit: one for each policy, unless a group refers to several together. */
export const auditedConfig = (config: Config): Config => withOnePolicyEach(config, referencedBy(config));

/** The entries for loading in the background: see {@link auditEntry}. */
export function auditConfig(config: Config): Config {
  // A group's answer depends on its members' actions: entries that it refers to stay unchanged.
  const referenced = referencedBy(config);
  return { ...config, entries: config.entries.map((each) => (referenced.has(each.id) ? each : auditEntry(each))) };
}

const referencedBy = ({ entries }: Config): ReadonlySet<string> =>
  new Set(entries.flatMap((entry) => (entry.kind === "group" ? referencesOf(entry) : [])));

/** An entry that reports all failures, whatever its actions. */
export const auditEntry = (entry: ConfigEntry): ConfigEntry =>
  entry.kind === "resource" || entry.kind === "cel" ? { ...entry, validationActions: ["Deny"] } : entry;

const referencesOf = ({ members }: GroupEntry): readonly string[] =>
  members.flatMap(({ policy }) => (policy.kind === "reference" ? [policy.id] : []));

/** An entry with its served policies. */
export interface LoadedEntry {
  readonly entry: ConfigEntry;
  readonly served: ServedPolicy;
}

/** The policies of the entries that are evaluated on existing objects. */
export function auditedPolicies(entries: Iterable<LoadedEntry>): AuditedPolicies {
  const policies: AuditedPolicy[] = [];
  const leftOut: LeftOut[] = [];
  for (const { entry, served } of entries) {
    const found = auditedEntry(entry, served);
    if ("reason" in found) leftOut.push(found);
    else policies.push(found);
  }
  return { policies, leftOut };
}

function auditedEntry(entry: ConfigEntry, served: ServedPolicy): AuditedPolicy | LeftOut {
  const { id } = entry;
  if (entry.kind === "invalid") {
    const [problem] = entry.problems;
    return { id, reason: problem === undefined ? "it is invalid" : formatProblem(problem), isProblem: true };
  }
  if (served.unavailable !== undefined) return { id, reason: served.unavailable, isProblem: true };
  const documents = documentsOf(entry);
  const off = documents.length > 0 && documents.every(isOff);
  if (off) return { id, reason: "it is not for the background", isProblem: false };
  const [resource] = entry.origin.path[0] === "spec" ? [entry.origin.document] : [];
  const kubewarden = resource !== undefined && identityOf(resource).group === KUBEWARDEN_GROUP ? resource : undefined;
  const rules = rulesOf(served, kubewarden);
  if (typeof rules === "string") return { id, reason: rules, isProblem: false };
  const reported = reportedPolicy(entry, served, kubewarden, documents);
  return {
    served,
    reported,
    rules,
    namespace: kubewarden === undefined ? "" : namespaceOf(kubewarden.value),
    ...(kubewarden !== undefined && { webhook: webhookMatch(kubewarden.value) }),
    properties: kubewarden === undefined ? {} : kubewardenProperties(kubewarden),
    seesNamespaces: entry.kind !== "resource" || !opened(entry.documents).some(isNamespace),
    asGuest: entry.kind === "module",
    looksElsewhere: served.asks?.some((what) => !SEEN.has(what)) === true || bringsContext(entry),
    finding: (outcome) => findingOf(outcome, entry, documents),
  };
}

const PASSED: AuditFinding = { status: "pass", message: "", properties: {} };

function findingOf(
  outcome: Outcome,
  entry: PolicyEntry,
  documents: readonly SourceDocument[],
): AuditFinding | undefined {
  const { verdict, report = {} } = outcome;
  // One policy is named beside the finding, so that the message need not name it.
  const alone = documents.length === 1;
  const only = alone ? documents.flatMap(rulesOfPolicy)[(entry.kind === "resource" && entry.onlyRule) || 0] : undefined;
  const rule = only === undefined ? {} : { rule: text(only, "name") };
  if (verdict === "allow") return { ...PASSED, ...rule };
  const { binding, passedOver = "condition" } = report;
  if (verdict === "skip" && passedOver === "condition") return undefined;
  const { status, message, properties } = plainFinding(outcome);
  const own = "validationActions" in entry ? entry.validationActions : undefined;
  return {
    status: status === "fail" && isWarning(own ?? report.actions) ? "warn" : status,
    message: (alone || verdict === "skip" ? report.message : undefined) ?? message,
    properties: { ...properties, ...report.properties, ...(binding !== undefined && { binding }) },
    ...(report.rule !== undefined && { rule: report.rule }),
    ...rule,
    ...(report.exceptions && { exceptions: report.exceptions }),
  };
}

/** Whether denials are only warnings. A finding for the audit log alone is as severe as a denial (spec kyverno.md 7.1). */
const isWarning = (actions: readonly string[] = []): boolean =>
  actions.includes("Warn") && !actions.includes("Deny") && !actions.includes("Audit");

/** The policies among the documents of an entry, or of an inline policy. */
function documentsOf(entry: PolicyEntry): readonly SourceDocument[] {
  return entry.kind === "resource" ? opened(entry.documents).filter(isPolicy) : [];
}

const POLICY_KINDS: ReadonlySet<string> = new Set([
  `${KYVERNO_GROUP}/ValidatingPolicy`,
  `${KYVERNO_GROUP}/NamespacedValidatingPolicy`,
  `${KYVERNO_GROUP}/ImageValidatingPolicy`,
  `${KYVERNO_GROUP}/NamespacedImageValidatingPolicy`,
  `${OLD_KYVERNO_GROUP}/ClusterPolicy`,
  `${OLD_KYVERNO_GROUP}/Policy`,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  `${CERTIFICATE_REQUEST_POLICY_GROUP}/CertificateRequestPolicy`,
]);

function isPolicy(document: SourceDocument): boolean {
  const { group, kind } = identityOf(document);
  return POLICY_KINDS.has(`${group}/${kind}`);
}

const isNamespace = (document: SourceDocument): boolean => identityOf(document).kind === "Namespace";

/** Whether it has context entries, which look things up in the cluster or elsewhere. */
function bringsContext(entry: PolicyEntry): boolean {
  if (entry.kind === "group")
    return entry.members.some(({ policy }) => policy.kind !== "reference" && bringsContext(policy));
  if (entry.kind !== "resource") return false;
  return opened(entry.documents).some((document) => identityOf(document).kind === "GlobalContextEntry");
}

/** Whether its author has excluded existing objects (spec kyverno.md 1.2 and 7.4). */
function isOff({ value }: SourceDocument): boolean {
  const evaluation = member(member(value, "spec"), "evaluation");
  const generated = member(member(value, "status"), "generated") === true;
  const isOldAndOff = rulesOfPolicy({ value }).length > 0 && member(member(value, "spec"), "background") === false;
  return generated || isOldAndOff || member(member(evaluation, "background"), "enabled") === false;
}

/** The rules of a policy, or the reason why it can't be audited. */
function rulesOf({ policy }: ServedPolicy, kubewarden: SourceDocument | undefined): readonly TargetRule[] | string {
  if (kubewarden !== undefined) {
    const spec = member(kubewarden.value, "spec");
    if (member(spec, "backgroundAudit") === false) return "it is not for the background";
    const written = targetRules(listOf(member(spec, "rules")));
    const rules = withoutWildcards(written);
    if (rules.length > 0) return rules;
    return written.length > 0 ? "its rules have wildcards" : "its rules are not for the creation of objects";
  }
  if (policy.rules === undefined) return "it does not say what it is for";
  const rules = targetRules(policy.rules);
  return rules.length > 0 ? rules : "its rules are not for the creation of objects";
}

/** The criteria of its registration that a webhook checks; its match conditions are ignored (spec kubewarden.md 11.3). */
function webhookMatch(resource: unknown): WebhookMatch {
  const spec = member(resource, "spec");
  const selector = (key: string) => {
    const written = member(spec, key);
    return prepareSelector(isObject(written) ? written : {});
  };
  const written = JSON.stringify([member(spec, "objectSelector"), member(spec, "namespaceSelector")]);
  return { objects: selector("objectSelector"), namespaces: selector("namespaceSelector"), written };
}

/** Properties of a policy in each result of Kubewarden's reports (spec kubewarden.md 11.3). */
function kubewardenProperties({ value }: SourceDocument): Readonly<Record<string, string>> {
  const [metadata, spec] = [member(value, "metadata"), member(value, "spec")];
  const resources = member(spec, "contextAwareResources");
  const namespace = namespaceOf(value);
  return {
    [member(spec, "mutating") === true ? "mutating" : "validating"]: "true",
    ...(Array.isArray(resources) && resources.length > 0 && { "context-aware": "true" }),
    "policy-name": nameOf(value),
    ...(namespace !== "" && { "policy-namespace": namespace }),
    "policy-uid": text(metadata, "uid"),
    "policy-resource-version": text(metadata, "resourceVersion"),
  };
}

/** Prefix of Kubewarden's annotations on policies, and of properties in reports. */
const KUBEWARDEN_ANNOTATION = "io.kubewarden.policy.";
const SEVERITY = "policies.kyverno.io/severity";
const CATEGORY = "policies.kyverno.io/category";

function reportedPolicy(
  entry: PolicyEntry,
  { policy }: ServedPolicy,
  kubewarden: SourceDocument | undefined,
  documents: readonly SourceDocument[],
): ReportedPolicy {
  const { file, line } = documents[0]?.positionOf([]) ?? entry.origin.document.keyPositionOf(entry.origin.path);
  const place = { file, line };
  if (kubewarden !== undefined) {
    const own = annotationsOf(kubewarden);
    const annotations = {
      ...(own[`${KUBEWARDEN_ANNOTATION}severity`] && { [SEVERITY]: own[`${KUBEWARDEN_ANNOTATION}severity`] ?? "" }),
      ...(own[`${KUBEWARDEN_ANNOTATION}category`] && { [CATEGORY]: own[`${KUBEWARDEN_ANNOTATION}category`] ?? "" }),
    };
    return { name: entry.id, namespace: "", source: "kubewarden", annotations, countsSkips: true, place };
  }
  const [only, ...others] = documents;
  if (only === undefined || others.length > 0) {
    return { name: entry.id, namespace: "", source: policy.implementation, annotations: {}, countsSkips: true, place };
  }
  const { group, kind } = identityOf(only);
  const source = /ImageValidatingPolicy$/.test(kind) ? IMAGE_SOURCE : (SOURCES.get(group) ?? policy.implementation);
  return {
    name: nameOf(only.value),
    namespace: namespaceOf(only.value),
    source,
    annotations: annotationsOf(only),
    process: "background scan",
    countsSkips: true,
    place,
  };
}

const IMAGE_SOURCE = "KyvernoImageValidatingPolicy";
/** Names of other sources in reports, by the group of policies. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  [KYVERNO_GROUP, "KyvernoValidatingPolicy"],
  [OLD_KYVERNO_GROUP, "kyverno"],
]);

function annotationsOf({ value }: SourceDocument): Readonly<Record<string, string>> {
  const annotations = member(member(value, "metadata"), "annotations");
  return isObject(annotations) ? (annotations as Readonly<Record<string, string>>) : {};
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
