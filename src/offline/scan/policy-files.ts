/** Reads policies of all kinds from files, folders and standard input (spec kyverno.md 8.1). */
import { readFile, stat } from "node:fs/promises";
import { identityOf, opened } from "../../config/documents/documents.js";
import { formatProblem } from "../../config/documents/problem.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { manifestFiles } from "../../data/manifest-files.js";
import { didYouMean, nearest } from "../../data/suggest.js";
import { yamlText } from "../../data/yaml.js";
import {
  GROUP as CERTIFICATE_GROUP,
  POLICY_KIND as CERTIFICATE_REQUEST_POLICY,
} from "../../kinds/certificate-request-policy/resource.js";
import { authorizationMode } from "../../kinds/kyverno/authorization/index.js";
import { targetsError } from "../../kinds/kyverno/check-policy.js";
import {
  type ExceptionResource,
  isOldException,
  isOldPolicy,
  type KnownPolicy,
  type PolicyResource,
  readOldPolicy,
} from "../../kinds/kyverno/index.js";
import { describeFailure, readResource } from "../../kinds/kyverno/read.js";
import { EXCEPTION_KIND, judgesNothing, KYVERNO_DOCUMENTS, lacking } from "../../kinds/kyverno/resource.js";
import { isBuiltin, mistakenKind } from "../../kubernetes/builtin-kinds.js";
import { apiVersionOf, type GroupVersionKind } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import { RBAC_GROUP } from "../../world/authorizer/rbac-objects.js";
import type { Place } from "../reports/finding.js";
import { NO_VALUES, type OldPolicyValues } from "./circumstances.js";
import { isForeign } from "./foreign-files.js";
import { reasonOf } from "./input-files.js";
import { withValues } from "./old-values.js";

/** A ValidatingAdmissionPolicy or MutatingAdmissionPolicy with its bindings. */
export interface AdmissionPolicyDocuments {
  readonly kind: string;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The policy, then its bindings and objects of its `paramKind`, from any file. */
  readonly documents: readonly SourceDocument[];
  /** The names of the bindings. */
  readonly bindings: readonly string[];
}

/** CertificateRequestPolicies with the documents beside them. */
export interface CertificateRequestPolicyDocuments {
  /** In the order of the files. */
  readonly policies: readonly SourceDocument[];
  /** Namespaces and objects of RBAC; none without policies. */
  readonly beside: readonly SourceDocument[];
}

/** The content of policy files. */
export interface PolicyFiles {
  /** In the order of the files. */
  readonly kyverno: readonly PolicyResource[];
  /** Policies for an authorization server (spec kyverno.md 6.3). */
  readonly authorization: readonly PolicyResource[];
  readonly admission: readonly AdmissionPolicyDocuments[];
  /** MutatingAdmissionPolicies. */
  readonly mutatingAdmission: readonly AdmissionPolicyDocuments[];
  /** CertificateRequestPolicies, which decide together. */
  readonly certificateRequests: CertificateRequestPolicyDocuments;
  /** Policies of the old language, by which exceptions know them. */
  readonly old: readonly KnownPolicy[];
  /** PolicyExceptions among the policies. */
  readonly exceptions: readonly ExceptionResource[];
  /** The errors of those that can't be read. */
  readonly unreadable: readonly string[];
  /** Where policies are written, by their resources, and those that are not served by their texts. */
  readonly places: ReadonlyMap<PolicyResource | string, Place>;
  /** Warnings about skipped parts, for the user. */
  readonly warnings: readonly string[];
  /** Reasons why a file, or a policy in it, can't be used: what it would say is not known. */
  readonly mistakes: readonly string[];
  /** Paths of the command line without a policy. */
  readonly empty: readonly string[];
  /** Number of files in folders without a Kubernetes object. */
  readonly foreign: number;
  /** Policies that are not supported here: a run that leaves them out must not count as passed. */
  readonly unserved: readonly string[];
}

/** The API group of the API server's own policies. */
export const ADMISSION_GROUP = "admissionregistration.k8s.io";
const ADMISSION_POLICY = "ValidatingAdmissionPolicy";
const MUTATING_POLICY = "MutatingAdmissionPolicy";
/** The kinds of policies by those of their bindings. */
const BOUND: ReadonlyMap<string, string> = new Map(
  [ADMISSION_POLICY, MUTATING_POLICY].map((kind) => [`${kind}Binding`, kind]),
);
/** Kinds that are policies, by their API groups: those that are evaluated here, and others, for which an ending is enough. */
const POLICY_KINDS: ReadonlyMap<string, RegExp> = new Map([
  ["kyverno.io", /Policy$/],
  ["policies.kyverno.io", /Policy$/],
  ["policies.kubewarden.io", /Policy(?:Group)?$/],
  ["templates.gatekeeper.sh", /^ConstraintTemplate$/],
  ["constraints.gatekeeper.sh", /./],
]);

/**
 * Reads policies. An unusable file does not throw: it is a mistake. In folders other objects than policies are passed over.
 * @param paths files, folders (searched to the bottom), or `-`
 * @param stdin the text of standard input
 * @param values in place of what policies of the old language look up
 */
export async function readPolicyFiles(
  paths: readonly string[],
  stdin: string,
  values: OldPolicyValues = NO_VALUES.old,
): Promise<PolicyFiles> {
  const found = new Found(values);
  for (const path of paths) {
    try {
      if (path === "-") found.file("-", "-", stdin);
      else {
        const files = (await stat(path)).isDirectory() ? manifestFiles(path) : [path];
        for (const file of files) found.file(file, path, yamlText(await readFile(file)));
      }
    } catch (error) {
      const problem = error as NodeJS.ErrnoException;
      found.unread(path, `${problem.path || path || '""'}: ${reasonOf(problem)}`);
    }
  }
  return found.policies(paths);
}

/** The use of a configuration, before its path. */
const BY_ID = "entries of a configuration are named by their ids, with --policies";

/** A file that was read. */
interface ReadFile {
  /** The path of the command line: its own, or a folder's. */
  readonly given: string;
  readonly path: string;
  /** Its problems, for the user. */
  readonly warnings: readonly string[];
  readonly mistakes: readonly string[];
  readonly documents: readonly SourceDocument[];
}

/** Takes a document, if its file is taken. */
type Take = () => unknown;

class Found {
  /** Files that were read: only after all of them is it known whether one has a CertificateRequestPolicy. */
  readonly #files: ReadFile[] = [];
  readonly #found = {
    kyverno: [] as PolicyResource[],
    authorization: [] as PolicyResource[],
    certificateRequests: { policies: [] as SourceDocument[], beside: [] as SourceDocument[] },
    old: [] as KnownPolicy[],
    exceptions: [] as ExceptionResource[],
    unreadable: [] as string[],
    places: new Map<PolicyResource | string, Place>(),
    warnings: [] as string[],
    mistakes: [] as string[],
    foreign: 0,
    unserved: [] as string[],
  };
  readonly #admission: SourceDocument[] = [];
  /** Bindings by the names of their policies. */
  readonly #bindings = new Map<string, SourceDocument[]>();
  /** Objects of other kinds, which may be parameters. */
  readonly #others: SourceDocument[] = [];
  /** Paths of the command line that have a policy, or a mistake. */
  readonly #full = new Set<string>();
  readonly #values: OldPolicyValues;

  constructor(values: OldPolicyValues) {
    this.#values = values;
  }

  /** @param given the path of the command line: the same, or a folder's */
  file(path: string, given: string, written: string): void {
    const { documents, problems, warnings } = parseResources(written, path);
    const mistakes = problems.map(formatProblem);
    this.#files.push({ given, path, warnings: warnings.map(formatProblem), mistakes, documents: opened(documents) });
  }

  unread(given: string, mistake: string): void {
    this.#files.push({ given, path: given, warnings: [], mistakes: [mistake], documents: [] });
  }

  /** Takes a file as a whole or, if it has a policy with a field that Kyverno does not know, not at all. */
  #take({ given, path, warnings, mistakes, documents }: ReadFile, certificates: boolean): void {
    const found = this.#found;
    const before = found.unserved.length + found.mistakes.length;
    found.warnings.push(...warnings);
    found.mistakes.push(...mistakes);
    const taken = this.#documents(documents, certificates);
    for (const take of taken) take();
    if (taken.length > 0 || found.unserved.length + found.mistakes.length > before) this.#full.add(given);
    else if (documents.length > 0 && given === path) {
      this.#full.add(given);
      // It may be a policies.yaml.
      const byId = documents.every(isLikeEntries) ? `; ${BY_ID} ${path}` : "";
      found.mistakes.push(`${path === "-" ? "standard input" : path} holds no policy${path === "-" ? "" : byId}`);
    } else if (documents.length > 0 && documents.every(({ value }) => isForeign(value))) found.foreign++;
  }

  #documents(documents: readonly SourceDocument[], certificates: boolean): readonly Take[] {
    // Documents with permissions to use a policy belong to it, in its file and in files without any policy.
    const beside = documents.some(isCertificateRequestPolicy) || (certificates && documents.every(isNoPolicy));
    const taken: Take[] = [];
    for (const document of documents) {
      const take = this.#document(document, beside);
      if (take === "drop") return [];
      if (take !== undefined) taken.push(take);
    }
    return taken;
  }

  /** @param beside whether built-in kinds may be in the file */
  #document(document: SourceDocument, beside: boolean): Take | "drop" | undefined {
    const { group, version, kind, name } = identityOf(document);
    const { kyverno, authorization, certificateRequests, exceptions, unreadable, mistakes } = this.#found;
    const mistake = (what: string): undefined => {
      mistakes.push(formatProblem(document.problem("error", [], what)));
    };
    const wrong = mistakenPolicy({ group, version, kind });
    if (wrong !== undefined) return mistake(wrong);
    if (group === ADMISSION_GROUP && (kind === ADMISSION_POLICY || kind === MUTATING_POLICY))
      return () => this.#admission.push(document);
    const policyKind = group === ADMISSION_GROUP ? BOUND.get(kind) : undefined;
    if (policyKind !== undefined) {
      const bound = `${policyKind} ${text(member(document.value, "spec"), "policyName")}`;
      return () => this.#bindings.set(bound, [...(this.#bindings.get(bound) ?? []), document]);
    }
    if (isCertificateRequestPolicy(document)) return () => certificateRequests.policies.push(document);
    if (beside && isBesideCertificateRequestPolicies(document)) return () => certificateRequests.beside.push(document);
    if (isOldPolicy(document.value)) return this.#old(document, document.value);
    if (isOldException(document.value)) {
      const exception = document.value as unknown as ExceptionResource;
      return () => exceptions.push(exception);
    }
    const read = readResource(document.value);
    switch (read.kind) {
      case "policy": {
        const targets = targetsError(read.resource);
        if (targets !== undefined) return this.#unserved(`${kind} ${name}: ${targets.text}`, document);
        // Kyverno takes it, and passes everything.
        if (judgesNothing(read.resource)) mistake(`${kind} ${name} ${lacking(read.resource)}`);
        this.#noted(read.resource, document);
        return () => (authorizationMode(read.resource) === undefined ? kyverno : authorization).push(read.resource);
      }
      case "exception":
        return () => exceptions.push(read.resource);
      case "context-entry":
        return undefined;
      case "unreadable": {
        const dropped = read.failures.some(({ unknownField }) => unknownField);
        const what = read.failures.map(describeFailure).join("; ");
        if (kind === EXCEPTION_KIND) {
          const errors = read.failures.map((each) => document.problem("error", each.path, describeFailure(each)));
          unreadable.push(errors.map(formatProblem).join("; "));
        }
        mistake(`${dropped ? "the whole file is left out" : `${kind} ${name} is left out`}: ${read.text} (${what})`);
        return dropped ? "drop" : undefined;
      }
      case "other":
        this.#others.push(document);
    }
    if (POLICY_KINDS.get(group)?.test(kind) === true)
      this.#unserved(`${kind} ${name} is of a kind that is not served`, document);
    else if (!isForeign(document.value) && (kind === "" || (group === "" && version === "")))
      mistake(`${kind === "" ? "kind" : "apiVersion"} is missing`);
    return undefined;
  }

  #old(document: SourceDocument, value: JsonObject): Take {
    const { rules, reasons, known } = readOldPolicy(withValues(value, this.#values));
    const left = rules.flatMap(({ reason }) =>
      reason ? [{ ...reason, message: `not converted: ${reason.message}` }] : [],
    );
    for (const { path, message } of reasons.length > 0 ? reasons : left)
      this.#found.mistakes.push(formatProblem(document.problem("error", path, message)));
    const policies = reasons.length > 0 ? [] : rules.flatMap((rule) => rule.policies);
    for (const { resource } of policies) this.#noted(resource, document);
    return () => {
      this.#found.old.push(known);
      this.#found.kyverno.push(...policies.map(({ resource }) => resource));
    };
  }

  #unserved(missing: string, document: SourceDocument): undefined {
    this.#noted(missing, document);
    this.#found.unserved.push(missing);
  }

  #noted(policy: PolicyResource | string, document: SourceDocument): void {
    const place = placeOf(document);
    if (place !== undefined) this.#found.places.set(policy, place);
  }

  /** @param paths those of the command line */
  policies(paths: readonly string[]): PolicyFiles {
    const certificates = this.#files.some(({ documents }) => documents.some(isCertificateRequestPolicy));
    for (const file of this.#files.splice(0)) this.#take(file, certificates);
    const names = new Set(this.#admission.map(({ value }) => `${text(value, "kind")} ${nameOf(value)}`));
    for (const [key, [binding]] of this.#bindings) {
      if (names.has(key)) continue;
      const name = key.slice(key.indexOf(" ") + 1) || "without a name";
      const what = `the binding is for the policy ${name}, which is not among the policies`;
      this.#found.mistakes.push(formatProblem(binding!.problem("error", ["spec", "policyName"], what)));
    }
    const bound = this.#admission.map((document) => {
      const name = nameOf(document.value);
      const kind = text(document.value, "kind");
      const own = this.#bindings.get(`${kind} ${name}`) ?? [];
      return {
        kind,
        name,
        annotations: annotationsOf(document.value),
        documents: [document, ...own, ...this.#others.filter(isParameterOf(document))],
        bindings: own.map(({ value }) => nameOf(value)),
      };
    });
    const admission = bound.filter(({ kind }) => kind === ADMISSION_POLICY);
    const mutatingAdmission = bound.filter(({ kind }) => kind === MUTATING_POLICY);
    const empty = [...new Set(paths)].filter((path) => !this.#full.has(path));
    return { ...this.#found, admission, mutatingAdmission, empty };
  }
}

/** The API groups of the kinds that are evaluated. */
const SERVED: ReadonlyMap<string, string> = new Map([
  ...KYVERNO_DOCUMENTS.policies.map(({ kind, group }): [string, string] => [kind, group]),
  ...[...BOUND].flat().map((kind): [string, string] => [kind, ADMISSION_GROUP]),
  [CERTIFICATE_REQUEST_POLICY, CERTIFICATE_GROUP],
]);

/** Kinds of these groups that are not evaluated, and not slips of those that are. */
const OTHER_KINDS = /^(?:Namespaced)?(?:Generating|Deleting|ImageValidating)Policy$|^PolicyException$/;

/** The mistake in the kind or API group of a document that was meant to be a policy; `undefined`: none, or it was not. */
function mistakenPolicy({ group, version, kind }: GroupVersionKind): string | undefined {
  const right = SERVED.get(kind);
  // The first design of Kyverno's policies had them in its own group.
  if (right !== undefined && group !== right && group !== "kyverno.io") {
    return `${kind} of ${apiVersionOf({ group, version }) || "no apiVersion"} is not a policy: the kind is one of ${right}`;
  }
  if (group === ADMISSION_GROUP) return mistakenKind(apiVersionOf({ group, version }), kind);
  const isPolicyGroup = [...SERVED.values()].includes(group);
  if (!isPolicyGroup || right === group || OTHER_KINDS.test(kind)) return undefined;
  const kinds = [...SERVED].flatMap(([each, of]) => (of === group ? [each] : []));
  return nearest(kind, kinds) === undefined ? undefined : `${group} has no kind ${kind}${didYouMean(kind, kinds)}`;
}

function isCertificateRequestPolicy(document: SourceDocument): boolean {
  const { group, kind } = identityOf(document);
  return group === CERTIFICATE_GROUP && kind === CERTIFICATE_REQUEST_POLICY;
}

/** Whether it may be a configuration: keys with maps, and no kind. */
const isLikeEntries = ({ value }: SourceDocument): boolean =>
  isForeign(value) && isObject(value) && Object.values(value).some(isObject);

function isParameterOf({ value: policy }: SourceDocument): (document: SourceDocument) => boolean {
  const paramKind = member(member(policy, "spec"), "paramKind");
  const [apiVersion, kind] = [text(paramKind, "apiVersion"), text(paramKind, "kind")];
  return ({ value }) => kind !== "" && text(value, "kind") === kind && text(value, "apiVersion") === apiVersion;
}

/** Whether a document is of a built-in kind that is not a policy. */
function isNoPolicy(document: SourceDocument): boolean {
  const identity = identityOf(document);
  return isBesideCertificateRequestPolicies(document) || (identity.group !== ADMISSION_GROUP && isBuiltin(identity));
}

function isBesideCertificateRequestPolicies(document: SourceDocument): boolean {
  const { group, kind } = identityOf(document);
  return group === RBAC_GROUP || (group === "" && kind === "Namespace");
}

/** Where a document is written; undefined: not in a file. */
export function placeOf(document: SourceDocument): Place | undefined {
  const { file, line } = document.positionOf([]);
  return file === "-" ? undefined : { file, line };
}

/** The annotations of an object that are texts. */
export function annotationsOf(value: unknown): Readonly<Record<string, string>> {
  const annotations = member(member(value, "metadata"), "annotations");
  const entries = Object.entries((annotations ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
