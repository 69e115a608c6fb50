/** ValidatingAdmissionPolicies with their bindings, parameters and Namespaces, from documents. */
import { createEnvironment } from "../../cel/index.js";
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import { unescapedName } from "../../cel-policy/expressions/variables.js";
import type { SchemaFactory } from "../../cel-policy/type-check/bundled-schemas.js";
import type { SchemaSource } from "../../cel-policy/type-check/schema-source.js";
import { typeWarnings } from "../../cel-policy/type-check/type-check.js";
import { type DocumentProblem, problemAt, type SourceDocument } from "../../documents/document-problem.js";
import { compareNames } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import type { Policy } from "../../policy/policy.js";
import type { Authorizer } from "../../world/authorizer/authorizer.js";
import { FileResources, type FileResourcesOptions, objectsOf } from "../../world/resources/file-resources.js";
import { LayeredResources } from "../../world/resources/layered-resources.js";
import type { ResourceSource } from "../../world/resources/resource-source.js";
import { ValidatingPolicySet, type World } from "./policy.js";
import {
  type PreparedBinding,
  type PreparedPolicy,
  prepareBinding,
  preparePolicy,
  standalone,
} from "./prepared-policy.js";
import { checkBinding, checkPolicy, readResource } from "./read.js";
import { type BindingResource, POLICY_KIND, type PolicyResource } from "./resource.js";

/** How to load. */
export interface LoadOptions {
  readonly compiler: ExpressionCompiler;
  readonly authorizer: Authorizer;
  /** Monotonic milliseconds, the clock of deadlines. */
  readonly now: () => number;
  /** The id of a policy by its name; default: the name. */
  readonly id?: (name: string) => string;
  /** What a policy without a binding does when it is violated; default: deny. */
  readonly validationActions?: readonly string[];
  /** Where Namespaces and parameters are looked for that no document brings; default: nowhere, and Namespaces are made up. */
  readonly source?: ResourceSource;
  /** Check the types of expressions against schemas: given the documents' CustomResourceDefinitions. */
  readonly schemas?: SchemaFactory;
  /** How the documents are taken as resources. */
  readonly resources?: FileResourcesOptions;
}

/** What came of loading. */
export interface Loaded {
  /** One policy each, in the order of their names; broken ones are left out and have a problem. */
  readonly policies: readonly Policy[];
  /** All of them together, as the API server asks them; its id is the first argument of `together`. */
  readonly together: (id: string) => ValidatingPolicySet;
  readonly problems: readonly DocumentProblem[];
}

interface Found<R> {
  readonly resource: R;
  readonly source: SourceDocument;
}

/** Loads everything that the documents hold. */
export function loadPolicies(documents: readonly SourceDocument[], options: LoadOptions): Loaded {
  const problems: DocumentProblem[] = [];
  const policies: Found<PolicyResource>[] = [];
  const bindings: Found<BindingResource>[] = [];
  const objects: JsonObject[] = [];
  for (const source of documents.flatMap(opened)) {
    const read = readResource(source.document);
    switch (read.kind) {
      case "unreadable":
        problems.push(problemAt(source, "error", read.path, read.message));
        break;
      case "other":
        objects.push(...objectsOf(source.document));
        break;
      default:
        if (read.kind === POLICY_KIND) policies.push({ resource: read.resource, source });
        else bindings.push({ resource: read.resource, source });
    }
  }
  problems.push(...repeatedNames(policies), ...repeatedNames(bindings));

  const usable = usableBindings(bindings, policies, problems);
  const schemas = options.schemas?.(objects.filter((object) => object.kind === "CustomResourceDefinition"));
  const prepared: PreparedPolicy[] = [];
  for (const { resource, source } of policies) {
    const { compiled, errors } = checkPolicy(resource, options.compiler);
    problems.push(...errors.map(({ path, text: message }) => problemAt(source, "error", path, message)));
    problems.push(...unreachableVariables(resource, source));
    if (errors.length > 0) continue;
    if (schemas !== undefined) problems.push(...doubtfulTypes(resource, source, schemas));
    const name = resource.metadata.name ?? "";
    const own = usable.get(name) ?? [standalone(name, options.validationActions ?? ["Deny"])];
    const policy = preparePolicy(resource, compiled, own, `${POLICY_KIND} '${name}'`);
    if (policy !== undefined) prepared.push(policy);
  }
  prepared.sort((a, b) => compareNames(a.name, b.name));
  const world: World = {
    source: resourcesOf(objects, options),
    authorizer: options.authorizer,
    now: options.now,
  };
  const idOf = options.id ?? ((name: string) => name);
  return {
    policies: prepared.map((policy) => new ValidatingPolicySet(idOf(policy.name), [policy], world)),
    together: (id) => new ValidatingPolicySet(id, prepared, world),
    problems,
  };
}

/** Where a policy finds what a request does not bring: documents, and what is behind them. */
export function resourcesOf(
  objects: readonly JsonObject[],
  { source, resources }: Pick<LoadOptions, "source" | "resources">,
): ResourceSource {
  if (source === undefined) return new FileResources(objects, DEFAULT_RESOURCES(resources));
  return new LayeredResources(new FileResources(objects, resources), source);
}

const DEFAULT_RESOURCES = (options: FileResourcesOptions = {}): FileResourcesOptions => ({
  guessScope: true,
  synthesiseNamespaces: true,
  ...options,
});

/** A list's items are documents of their own. */
function opened(source: SourceDocument): readonly SourceDocument[] {
  const { document, position } = source;
  const items = member(document, "items");
  if (!isObject(document) || !text(document, "kind").endsWith("List") || !Array.isArray(items)) return [source];
  return items.flatMap((item, i) =>
    opened({
      ...source,
      document: item,
      ...(position && { position: (path) => position(["items", i, ...path]) }),
    }),
  );
}

function repeatedNames(found: readonly Found<PolicyResource | BindingResource>[]): DocumentProblem[] {
  const seen = new Map<string, SourceDocument>();
  return found.flatMap(({ resource, source }) => {
    const name = resource.metadata.name ?? "";
    const earlier = seen.get(name);
    seen.set(name, earlier ?? source);
    if (earlier === undefined) return [];
    const message = `duplicate name "${name}" of a ${resource.kind} (previously seen in "${earlier.file}")`;
    return [problemAt(source, "error", ["metadata", "name"], message)];
  });
}

/** What type checking says, which never keeps a policy from acting. */
const doubtfulTypes = (
  { spec }: PolicyResource,
  source: SourceDocument,
  schemas: SchemaSource,
): readonly DocumentProblem[] =>
  typeWarnings(spec, schemas, createEnvironment).map(({ path, warning }) =>
    problemAt(source, "warning", ["spec", ...path], warning.trimEnd()),
  );

/** Variables whose names the evaluator takes for escaped, and never finds. */
function unreachableVariables({ spec }: PolicyResource, source: SourceDocument): DocumentProblem[] {
  return (spec.variables ?? []).flatMap(({ name = "" }, i) => {
    if (unescapedName(name) === name) return [];
    const message = `the name looks escaped, so that variables.${name} is never found: choose one without "__"`;
    return [problemAt(source, "warning", ["spec", "variables", i, "name"], message)];
  });
}

/** The valid bindings by the policy they name. A broken one is no binding: its policy then must not act as if it had none. */
function usableBindings(
  bindings: readonly Found<BindingResource>[],
  policies: readonly Found<PolicyResource>[],
  problems: DocumentProblem[],
): Map<string, PreparedBinding[]> {
  const names = new Set(policies.map(({ resource }) => resource.metadata.name));
  const usable = new Map<string, PreparedBinding[]>();
  for (const { resource, source } of bindings) {
    const { policyName = "" } = resource.spec;
    const errors = checkBinding(resource);
    problems.push(...errors.map(({ path, text: message }) => problemAt(source, "error", path, message)));
    if (policyName !== "" && !names.has(policyName)) {
      const path = ["spec", "policyName"];
      const message = `the binding has no effect: there is no policy "${policyName}"`;
      problems.push(problemAt(source, "warning", path, message));
    }
    const own = usable.get(policyName) ?? [];
    usable.set(policyName, own);
    if (errors.length === 0) own.push(prepareBinding(resource));
  }
  return usable;
}
