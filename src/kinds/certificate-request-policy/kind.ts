import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { allNeeds, NAMESPACE_LABELS, type Needs } from "../../world/needs.js";
import { FileResources } from "../../world/resources/file-resources.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind } from "../kind.js";
import { reportOrThrow } from "../report-or-throw.js";
import { isConsequence } from "../shared/decode/misread.js";
import type { Watcher } from "../shared/watcher.js";
import { prepareBinding } from "./binding.js";
import { type CheckOptions, checkPolicy } from "./check-policy.js";
import { createRuleCompiler } from "./dialect.js";
import { type CompiledPolicy, compilePolicy } from "./engine/compiled-policy.js";
import { CertificateRequestPolicySet } from "./policy.js";
import { describeFailure, readPolicy } from "./read.js";
import { CERTIFICATE_REQUEST_DOCUMENTS, type CertificateRequestPolicy } from "./resource.js";
import { scrutinyOf } from "./scrutiny.js";

// CertificateRequestPolicies of one entry, by a cluster's rules: read and checked, with every mistake at its place (spec certificate-request-policy.md 7.2).

/** The parts of a document that are used: its JSON value, and its maker of problems with their place. */
type PolicyDocument = Pick<SourceDocument, "value" | "problem">;

/** Options of preparing documents. */
interface PrepareOptions extends CheckOptions {
  /**
   * Keeps policies that can be read but would not be admitted, since policies in a cluster may be older than the checks: rules that do not compile object to
   * every item, and unknown plugins are ignored. Mistakes are warnings then. An unknown field is an error all the same: the restriction it stands for is not
   * known.
   */
  readonly lenient?: boolean;
}

/** The policies of the documents. Those with errors are left out. */
interface PreparedPolicies {
  readonly policies: readonly CertificateRequestPolicy[];
  readonly problems: readonly Problem[];
}

/** Prepares documents of this kind: lists are opened, and no name stands twice. */
export function preparePolicies(documents: readonly PolicyDocument[], options: PrepareOptions): PreparedPolicies {
  const { lenient = false } = options;
  const severity = lenient ? "warning" : "error";
  const problems: Problem[] = [];
  const policies: CertificateRequestPolicy[] = [];
  for (const document of documents) {
    const { policy, failures, rest } = readPolicy(isObject(document.value) ? document.value : {});
    const broken = policy === undefined || failures.some(({ unknownField }) => unknownField);
    for (const failure of failures) {
      const fatal = broken && (policy === undefined || failure.unknownField);
      problems.push(document.problem(fatal ? "error" : severity, failure.path, describeFailure(failure)));
    }
    const readable = policy ?? rest;
    const errors = readable === undefined ? [] : checkPolicy(readable, options);
    // An error that the schema has reported already is not repeated.
    const said = new Set(failures.map(({ path }) => JSON.stringify(path)));
    const more = errors.filter((error) => !said.has(JSON.stringify(error.path)) && !isConsequence(error, failures));
    const kept = policy === undefined ? "error" : severity;
    problems.push(...more.map((error) => problemOf(error, document, kept)));
    if (policy === undefined || broken) continue;
    if (lenient || failures.length + errors.length === 0) policies.push(policy);
  }
  return { policies, problems };
}

/** A mistake of an expression stands in its rule. */
const problemOf = ({ path, ...error }: FieldError, document: PolicyDocument, severity: Problem["severity"]): Problem =>
  fieldProblem(document, severity, { ...error, path: error.code === undefined ? path : [...path, "rule"] });

/** The questions of selectors to the world. Where documents bring Namespaces, others are not looked for in a cluster. */
function needsOf(policies: readonly CompiledPolicy[], objects: readonly JsonObject[]): Needs {
  const asks = policies.some(({ namespaceLabels }) => namespaceLabels !== undefined);
  const brought = objects.some((object) => text(object, "apiVersion") === "v1" && text(object, "kind") === "Namespace");
  return { asks, requires: asks && !brought ? [NAMESPACE_LABELS] : [], parameters: [] };
}

/**
 * cert-manager's CertificateRequestPolicies (spec certificate-request-policy.md).
 * @param watcher watches the evaluation of their rules
 */
export function certificateRequestPolicyKind(watcher?: Watcher): DocumentKind {
  const compiler = createRuleCompiler(watcher);
  return {
    ...CERTIFICATE_REQUEST_DOCUMENTS,
    prepare({ id, own, others, validationActions, certificateRequests: settings = {} }, warn) {
      const { readiness = "self", unprocessed = "allow", invalidPolicies = "refuse" } = settings;
      const { policies, problems } = preparePolicies(own, {
        compiler,
        lenient: invalidPolicies === "keep",
      });
      const [first] = own;
      if (first === undefined) throw new Error("a set has a policy");
      const { binding, problems: warnings } = prepareBinding(settings, others, first);
      reportOrThrow([...problems, ...warnings], warn);
      const compiled = policies.map((policy) => compilePolicy(policy, compiler));
      const objects = others.map(({ value }) => value).filter(isObject) as readonly JsonObject[];
      return {
        needs: allNeeds([needsOf(compiled, objects), binding.needs]),
        policy: (outer) => {
          const known = worldOf(objects, outer);
          // A Namespace that is not among the documents has unknown labels (spec 3.2): none are made up.
          const resources = outer.resources === undefined ? new FileResources(objects) : known.resources;
          const world = { ...known, resources, authorizer: binding.authorizer(outer) };
          return new CertificateRequestPolicySet(compiled, {
            ...{ id, world, readiness, unprocessed, watcher },
            scrutinise: scrutinyOf(settings),
            actions: validationActions,
          });
        },
      };
    },
  };
}
