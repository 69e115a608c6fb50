/** ValidatingAdmissionPolicies with their bindings out of documents: compiled and checked, before there is a world that they ask. */
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { SchemaFactory } from "../../cel-policy/type-check/bundled-schemas.js";
import type { SchemaSource } from "../../cel-policy/type-check/schema-source.js";
import type { Problem } from "../../documents/problem.js";
import type { SourceDocument } from "../../documents/source-document.js";
import { compareNames } from "../../kubernetes/names.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import type { Policy } from "../../policy/policy.js";
import { allNeeds, type Needs } from "../../world/needs.js";
import type { World } from "../../world/world.js";
import { unescapedName } from "./dialect.js";
import { needsOf } from "./needs.js";
import { ValidatingPolicySet } from "./policy.js";
import { type PreparedPolicy, prepareBinding, preparePolicy, standalone } from "./prepared-policy.js";
import { checkPolicy, readDocument } from "./read.js";
import { type BindingResource, POLICY_KIND, type PolicyResource } from "./resource.js";
import { typeWarnings } from "./type-check.js";
import { validateBinding } from "./validate-binding.js";

/** What of a document is looked at: its JSON value, and who says what is wrong where. */
export type PolicyDocument = Pick<SourceDocument, "value" | "problem">;

/** How to prepare documents. */
export interface PrepareOptions {
  readonly compiler: ExpressionCompiler;
  /** What a violated policy does, whatever its bindings say; default: as they say, and without a binding it denies. */
  readonly validationActions?: readonly string[];
  /** Check the types of expressions against schemas: given the documents' CustomResourceDefinitions. */
  readonly schemas?: SchemaFactory;
}

/** Policies that are compiled. */
export interface PreparedDocuments {
  /** What they will ask of the world. */
  readonly needs: Needs;
  /** Every mistake and doubt. A broken policy is left out of everything else. */
  readonly problems: readonly Problem[];
  /** What the documents hold besides policies and bindings: Namespaces, parameters, CustomResourceDefinitions. */
  readonly objects: readonly JsonObject[];
  /** All of them together, as the API server asks them, in a world. */
  readonly policy: (id: string, world: World) => Policy;
}

interface Found<R> {
  readonly resource: R;
  readonly document: PolicyDocument;
}

/** Prepares everything that the documents hold: lists are opened, and no name stands twice. */
export function prepareDocuments(
  documents: readonly PolicyDocument[],
  { compiler, validationActions, schemas: schemasFor }: PrepareOptions,
): PreparedDocuments {
  const problems: Problem[] = [];
  const policies: Found<PolicyResource>[] = [];
  const bindings: Found<BindingResource>[] = [];
  const objects: JsonObject[] = [];
  for (const document of documents) {
    const read = readDocument(document.value);
    switch (read.kind) {
      case "unreadable":
        problems.push(document.problem("error", read.path, read.message));
        break;
      case "other":
        if (isObject(document.value)) objects.push(document.value);
        break;
      default:
        if (read.kind === POLICY_KIND) policies.push({ resource: read.resource, document });
        else bindings.push({ resource: read.resource, document });
    }
  }
  const usable = usableBindings(bindings, policies, problems);
  const schemas = schemasFor?.(objects.filter((object) => object.kind === "CustomResourceDefinition"));
  const prepared: PreparedPolicy[] = [];
  const needs: Needs[] = [];
  for (const { resource, document } of policies) {
    const { compiled, errors } = checkPolicy(resource, compiler);
    problems.push(...errors.map(({ path, text: message }) => document.problem("error", path, message)));
    problems.push(...unreachableVariables(resource, document));
    if (errors.length > 0) continue;
    if (schemas !== undefined) problems.push(...doubtfulTypes(resource, document, schemas));
    const name = resource.metadata.name ?? "";
    const own = usable.get(name);
    const bindings = own?.map(prepareBinding) ?? [standalone(["Deny"])];
    const acting = validationActions ? bindings.map((each) => ({ ...each, actions: validationActions })) : bindings;
    const policy = preparePolicy(resource, compiled, acting, `${POLICY_KIND} '${name}'`);
    if (policy === undefined) continue;
    prepared.push(policy);
    const specs = (own ?? []).map(({ spec }) => spec);
    needs.push(needsOf(resource.spec, compiled, specs, objects));
  }
  prepared.sort((a, b) => compareNames(a.name, b.name));
  return {
    needs: allNeeds(needs),
    problems,
    objects,
    policy: (id, world) =>
      new ValidatingPolicySet(prepared, { id, dialect: compiler.dialect, world, watcher: compiler.watcher }),
  };
}

/** What type checking says, which never keeps a policy from acting. */
const doubtfulTypes = ({ spec }: PolicyResource, document: PolicyDocument, schemas: SchemaSource): readonly Problem[] =>
  typeWarnings(spec, schemas).map(({ path, warning }) =>
    document.problem("warning", ["spec", ...path], warning.trimEnd()),
  );

/** Variables whose names the evaluator takes for escaped, and never finds. */
function unreachableVariables({ spec }: PolicyResource, document: PolicyDocument): Problem[] {
  return (spec.variables ?? []).flatMap(({ name = "" }, i) => {
    if (unescapedName(name) === name) return [];
    const message = `the name looks escaped, so that variables.${name} is never found: choose one without "__"`;
    return [document.problem("warning", ["spec", "variables", i, "name"], message)];
  });
}

/** The valid bindings by the policy they name. A broken one is no binding: its policy then must not act as if it had none. */
function usableBindings(
  bindings: readonly Found<BindingResource>[],
  policies: readonly Found<PolicyResource>[],
  problems: Problem[],
): Map<string, BindingResource[]> {
  const names = new Set(policies.map(({ resource }) => resource.metadata.name));
  const usable = new Map<string, BindingResource[]>();
  for (const { resource, document } of bindings) {
    const { policyName = "" } = resource.spec;
    const errors = validateBinding(resource);
    problems.push(...errors.map(({ path, text: message }) => document.problem("error", path, message)));
    if (policyName !== "" && !names.has(policyName)) {
      const message = `the binding has no effect: there is no policy "${policyName}"`;
      problems.push(document.problem("warning", ["spec", "policyName"], message));
    }
    const own = usable.get(policyName) ?? [];
    usable.set(policyName, own);
    if (errors.length === 0) own.push(resource);
  }
  return usable;
}
