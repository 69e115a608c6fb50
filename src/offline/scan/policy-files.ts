/** Reads policies of all kinds from files, folders and standard input (spec kyverno.md 8.1). */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { identityOf, opened } from "../../config/documents/documents.js";
import { formatProblem } from "../../config/documents/problem.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { yamlText } from "../../data/yaml.js";
import {
  GROUP as CERTIFICATE_GROUP,
  POLICY_KIND as CERTIFICATE_REQUEST_POLICY,
} from "../../kinds/certificate-request-policy/resource.js";
import { authorizationMode } from "../../kinds/kyverno/authorization/index.js";
import type { ExceptionResource, PolicyResource } from "../../kinds/kyverno/index.js";
import { describeFailure, readResource } from "../../kinds/kyverno/read.js";
import { EXCEPTION_KIND } from "../../kinds/kyverno/resource.js";
import { isBuiltin } from "../../kubernetes/builtin-kinds.js";
import { apiVersionOf } from "../../kubernetes/names.js";
import { member, nameOf, text } from "../../kubernetes/object.js";
import { RBAC_GROUP } from "../../world/authorizer/rbac-objects.js";
import type { Place } from "../reports/finding.js";
import { reasonOf } from "./input-files.js";

/** A ValidatingAdmissionPolicy with its bindings. */
export interface AdmissionPolicyDocuments {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The policy, then its bindings, from any file. */
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
  /** CertificateRequestPolicies, which decide together. */
  readonly certificateRequests: CertificateRequestPolicyDocuments;
  /** PolicyExceptions among the policies. */
  readonly exceptions: readonly ExceptionResource[];
  /** The errors of those that can't be read. */
  readonly unreadable: readonly string[];
  /** Where policies are written, by their resources, and those that are not served by their texts. */
  readonly places: ReadonlyMap<PolicyResource | string, Place>;
  /** Warnings about skipped parts, for the user. */
  readonly warnings: readonly string[];
  /** Policies that are not supported here: a run that leaves them out must not count as passed. */
  readonly unserved: readonly string[];
}

const ADMISSION_GROUP = "admissionregistration.k8s.io";
const ADMISSION_POLICY = "ValidatingAdmissionPolicy";
const ADMISSION_BINDING = "ValidatingAdmissionPolicyBinding";
const MUTATING_POLICY = "MutatingAdmissionPolicy";
/** API groups of known kinds of policies, here or elsewhere. */
const POLICY_GROUPS: ReadonlySet<string> = new Set(["kyverno.io", "policies.kyverno.io"]);

/**
 * Reads policies. An unusable file does not throw: it is left out, with a warning.
 * @param paths files, folders (searched to the bottom, except hidden ones), or `-`
 * @param stdin the text of standard input
 */
export async function readPolicyFiles(paths: readonly string[], stdin: string): Promise<PolicyFiles> {
  const found = new Found();
  for (const path of paths) {
    if (path === "-") found.file("-", stdin);
    else if (!(await walk(path, found))) {
      found.leftOut(`${path} is left out: policies are read from files that are not hidden and end with .yaml or .yml`);
    }
  }
  return found.policies();
}

/** Collects a file or folder; returns whether it may contain policies. */
async function walk(path: string, found: Found): Promise<boolean> {
  const name = basename(path);
  if (/^\.+[^./]/.test(name)) return false;
  try {
    if ((await stat(path)).isDirectory()) {
      for (const inside of (await readdir(path)).sort()) await walk(join(path, inside), found);
    } else if (/\.ya?ml$/.test(name)) found.file(path, yamlText(await readFile(path)));
    else return false;
  } catch (error) {
    found.leftOut(`${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  return true;
}

/** A file that was read. */
interface ReadFile {
  /** Its problems, for the user. */
  readonly warnings: readonly string[];
  readonly documents: readonly SourceDocument[];
}

type Taken =
  | { readonly kind: "kyverno"; readonly resource: PolicyResource }
  | { readonly kind: "authorization"; readonly resource: PolicyResource }
  | { readonly kind: "exception"; readonly resource: ExceptionResource }
  | { readonly kind: "policy" | "binding" | "certificate-request" | "beside"; readonly document: SourceDocument };

class Found {
  readonly warnings: string[] = [];
  readonly #unserved: string[] = [];
  readonly #unreadable: string[] = [];
  readonly #places = new Map<PolicyResource | string, Place>();
  readonly #taken: Taken[] = [];
  /** Files that were read: only after all of them is it known whether one has a CertificateRequestPolicy. */
  readonly #files: ReadFile[] = [];

  file(path: string, written: string): void {
    const { documents, problems, warnings } = parseResources(written, path);
    this.#files.push({ warnings: [...problems, ...warnings].map(formatProblem), documents: opened(documents) });
  }

  leftOut(warning: string): void {
    this.#files.push({ warnings: [warning], documents: [] });
  }

  /** Takes a file as a whole or, if it has a document that no policy file may have, not at all. */
  #take({ warnings, documents }: ReadFile, certificates: boolean): void {
    this.warnings.push(...warnings);
    // Documents with permissions to use a policy belong to it, in its file and in files without any policy.
    const beside = documents.some(isCertificateRequestPolicy) || (certificates && documents.every(isNoPolicy));
    const taken: Taken[] = [];
    for (const document of documents) {
      const read = this.#document(document, beside);
      if (read === "drop") return;
      if (read !== undefined) taken.push(read);
    }
    this.#taken.push(...taken);
  }

  /** @param beside whether built-in kinds may be in the file */
  #document(document: SourceDocument, beside: boolean): Taken | "drop" | undefined {
    const { group, version, kind, name } = identityOf(document);
    const warn = (what: string) => this.warnings.push(formatProblem(document.problem("warning", [], what)));
    if (group === ADMISSION_GROUP && kind === ADMISSION_POLICY) return { kind: "policy", document };
    if (group === ADMISSION_GROUP && kind === ADMISSION_BINDING) return { kind: "binding", document };
    if (isCertificateRequestPolicy(document)) return { kind: "certificate-request", document };
    if (beside && isBesideCertificateRequestPolicies(document)) return { kind: "beside", document };
    const read = readResource(document.value);
    switch (read.kind) {
      case "policy":
        this.#noted(read.resource, document);
        return { ...read, kind: authorizationMode(read.resource) === undefined ? "kyverno" : "authorization" };
      case "exception":
        return read;
      case "context-entry":
        return undefined;
      case "unreadable": {
        const dropped = read.failures.some(({ unknownField }) => unknownField);
        const what = read.failures.map(describeFailure).join("; ");
        if (kind === EXCEPTION_KIND) {
          const errors = read.failures.map((each) => document.problem("error", each.path, describeFailure(each)));
          this.#unreadable.push(errors.map(formatProblem).join("; "));
        }
        warn(`${dropped ? "the whole file is left out" : `${kind} ${name} is left out`}: ${read.text} (${what})`);
        return dropped ? "drop" : undefined;
      }
      case "other":
    }
    if (isPolicyElsewhere(group, kind)) {
      const unserved = `${kind} ${name} is of a kind that is not served`;
      this.#noted(unserved, document);
      this.#unserved.push(unserved);
    } else if (!beside && isBuiltin({ group, version, kind })) {
      warn(`the whole file is left out: policy type not supported ${apiVersionOf({ group, version })}, Kind=${kind}`);
      return "drop";
    } else warn(`${kind || "a document without a kind"} is passed over: it is not a policy`);
    return undefined;
  }

  #noted(policy: PolicyResource | string, document: SourceDocument): void {
    const place = placeOf(document);
    if (place !== undefined) this.#places.set(policy, place);
  }

  policies(): PolicyFiles {
    const certificates = this.#files.some(({ documents }) => documents.some(isCertificateRequestPolicy));
    for (const file of this.#files.splice(0)) this.#take(file, certificates);
    const kyverno: PolicyResource[] = [];
    const authorization: PolicyResource[] = [];
    const exceptions: ExceptionResource[] = [];
    const policies: SourceDocument[] = [];
    const certificateRequests = { policies: [] as SourceDocument[], beside: [] as SourceDocument[] };
    const bindings = new Map<string, SourceDocument[]>();
    for (const each of this.#taken) {
      if (each.kind === "kyverno") kyverno.push(each.resource);
      else if (each.kind === "authorization") authorization.push(each.resource);
      else if (each.kind === "exception") exceptions.push(each.resource);
      else if (each.kind === "certificate-request") certificateRequests.policies.push(each.document);
      else if (each.kind === "beside") certificateRequests.beside.push(each.document);
      else if (each.kind === "policy") policies.push(each.document);
      else {
        const bound = text(member(each.document.value, "spec"), "policyName");
        bindings.set(bound, [...(bindings.get(bound) ?? []), each.document]);
      }
    }
    const admission = policies.map((document) => {
      const name = nameOf(document.value);
      const own = bindings.get(name) ?? [];
      return {
        name,
        annotations: annotationsOf(document.value),
        documents: [document, ...own],
        bindings: own.map(({ value }) => nameOf(value)),
      };
    });
    const { warnings } = this;
    const unserved = this.#unserved;
    const [unreadable, places] = [this.#unreadable, this.#places];
    return {
      kyverno,
      authorization,
      admission,
      certificateRequests,
      exceptions,
      unreadable,
      places,
      warnings,
      unserved,
    };
  }
}

const isPolicyElsewhere = (group: string, kind: string): boolean =>
  (POLICY_GROUPS.has(group) && kind.endsWith("Policy")) ||
  (group === ADMISSION_GROUP && kind === MUTATING_POLICY) ||
  // In another API group it is a mistake.
  kind === CERTIFICATE_REQUEST_POLICY;

function isCertificateRequestPolicy(document: SourceDocument): boolean {
  const { group, kind } = identityOf(document);
  return group === CERTIFICATE_GROUP && kind === CERTIFICATE_REQUEST_POLICY;
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
