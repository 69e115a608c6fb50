/** Prepares ValidatingAdmissionPolicies with their bindings from documents: compiled and checked, without a world yet. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import { type FieldError, formatPath } from "../../kubernetes/field-error.js";
import { compareNames } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Policy } from "../../policy/policy.js";
import { allNeeds, type Needs } from "../../world/needs.js";
import type { World } from "../../world/world.js";
import {
  moreMistakes,
  type PolicyDocument,
  sortDocuments,
  storedWithWarnings,
  unreachableVariables,
  usableBindings,
} from "../admission-policy/documents.js";
import { needsOf } from "../admission-policy/needs.js";
import { parameterDoubts } from "../admission-policy/parameter-doubts.js";
import type { Server } from "../admission-policy/server.js";
import { doubtsIn, policyWarnings, warningsIn } from "../admission-policy/warnings.js";
import { expressionDoubts } from "../shared/doubts/expression-doubts.js";
import { alwaysSame } from "../shared/expressions/constant-warnings.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { SchemaFactory } from "../shared/type-check/bundled-schemas.js";
import type { SchemaSource } from "../shared/type-check/schema-source.js";
import { ValidatingPolicySet } from "./policy.js";
import { type PreparedPolicy, prepareBinding, preparePolicy, standalone } from "./prepared-policy.js";
import { checkPolicy, readDocument } from "./read.js";
import { BINDING_KIND, type BindingResource, POLICY_KIND, type PolicyResource } from "./resource.js";
import { examined, typeWarnings } from "./type-check.js";
import { validateBinding } from "./validate-binding.js";

/** Options of preparing documents. */
export interface PrepareOptions {
  readonly compiler: ExpressionCompiler;
  /** The actions on a violation, whatever the bindings say; default: the bindings' own, and without a binding it denies. */
  readonly validationActions?: readonly string[];
  /** Makes schemas, against which the types of expressions are checked, from the documents' CustomResourceDefinitions. */
  readonly schemas?: SchemaFactory;
  /** The server that policies are written for, which must accept them. Absent: any known version. */
  readonly server?: Server<ExpressionCompiler>;
}

/** The compiled policies. */
export interface PreparedDocuments {
  /** Their questions to the world. */
  readonly needs: Needs;
  /** Every error and warning. A broken policy is left out of everything else. */
  readonly problems: readonly Problem[];
  /** The documents besides policies and bindings: Namespaces, parameters, CustomResourceDefinitions. */
  readonly objects: readonly JsonObject[];
  /** Makes one policy of all in a world, evaluated in the API server's order. */
  readonly policy: (id: string, world: World) => Policy;
}

/** Prepares the documents: lists are opened, and names are unique. */
export function prepareDocuments(
  documents: readonly PolicyDocument[],
  { compiler, validationActions, schemas: schemasFor, server }: PrepareOptions,
): PreparedDocuments {
  const problems: Problem[] = [];
  const found = sortDocuments(documents, (document) => readDocument(document, server?.version), problems);
  const { policies, objects } = found;
  const checkBroken = (resource: PolicyResource | BindingResource): readonly FieldError[] =>
    resource.kind === BINDING_KIND
      ? validateBinding(resource as BindingResource, server)
      : checkPolicy(resource as PolicyResource, compiler, server).errors;
  problems.push(...moreMistakes(found.broken, checkBroken));
  const usable = usableBindings(found, validateBinding, problems, server);
  const schemas = schemasFor?.(objects.filter((object) => object.kind === "CustomResourceDefinition"));
  const prepared: PreparedPolicy[] = [];
  const needs: Needs[] = [];
  for (const { resource, document } of policies) {
    const { compiled, errors } = checkPolicy(resource, compiler, server);
    problems.push(...errors.map((error) => fieldProblem(document, "error", error)));
    problems.push(...storedWithWarnings(resource, document, server));
    problems.push(...unreachableVariables(resource, document));
    const same = alwaysSame(compiled.validations, ["validations"]);
    problems.push(...warningsIn(document, [...policyWarnings(resource.spec, compiled), ...same]));
    if (schemas !== undefined) {
      problems.push(...suspectTypes(resource, document, schemas, errors, compiler));
      problems.push(...parameterDoubts({ resource, document }, found.bindings, objects));
      problems.push(...doubtsIn(document, expressionDoubts(examined(resource.spec, compiled), schemas)));
    }
    if (errors.length > 0) continue;
    const name = resource.metadata.name ?? "";
    const own = usable.get(name);
    const bindings = own?.map(prepareBinding) ?? [standalone(["Deny"])];
    const acting = validationActions ? bindings.map((each) => ({ ...each, actions: validationActions })) : bindings;
    const policy = preparePolicy(resource, compiled, acting, `${POLICY_KIND} '${name}'`);
    if (policy === undefined) continue;
    prepared.push(policy);
    const specs = (own ?? []).map(({ spec }) => spec);
    needs.push(needsOf(resource.spec, Object.values(compiled).flat(), specs, objects));
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

/** The warnings of type checking, which never prevent a policy from acting. */
function suspectTypes(
  { spec }: PolicyResource,
  document: PolicyDocument,
  schemas: SchemaSource,
  errors: readonly FieldError[],
  { dialect }: ExpressionCompiler,
): readonly Problem[] {
  // An expression that does not compile is reported already, and one that names a variable which does not would be reported twice.
  const wrong = new Set(errors.map(({ path }) => formatPath(path)));
  return typeWarnings(spec, schemas, dialect.environment).flatMap(({ path, warning, ...found }) => {
    const at = ["spec", ...path];
    const text = `${warning.trimEnd()}\n${REPORTED}`;
    return wrong.has(formatPath(at))
      ? []
      : [fieldProblem(document, "warning", { ...found, path: at, text, code: "CEL_TYPES" })];
  });
}

/** The note that the API server's controller checks the same expressions against the same schemas. */
const REPORTED = "Kubernetes reports this too, in the policy's status.typeChecking";
