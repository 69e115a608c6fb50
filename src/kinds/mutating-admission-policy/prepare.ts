/** Prepares MutatingAdmissionPolicies with their bindings from documents: compiled and checked, without a world yet. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { compareNames } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import {
  type BundledSchemas,
  customResourceSchemas,
  joinedSchemas,
  type MergeSchemas,
} from "../../kubernetes/structured-merge/merge-schemas.js";
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
import { EVERYTHING_MATCHED, prepareTarget } from "../admission-policy/prepared-binding.js";
import type { Server } from "../admission-policy/server.js";
import { commonExamined, doubtsIn, policyWarnings, warningsIn } from "../admission-policy/warnings.js";
import { type ExaminedPolicy, expressionDoubts } from "../shared/doubts/expression-doubts.js";
import { atomicWrites } from "../shared/mutation/atomic-writes.js";
import { DEFINITION_KIND, findTypesIn } from "../shared/mutation/merge-types.js";
import { unknownGroups } from "../shared/mutation/unknown-groups.js";
import type { SchemaFactory } from "../shared/type-check/bundled-schemas.js";
import { kindsOfRules, type SchemaSource } from "../shared/type-check/schema-source.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { expressionsIn } from "./compiled-policy.js";
import type { MutationCompilers } from "./compilers.js";
import { MutatingPolicySet } from "./policy.js";
import { type PreparedPolicy, preparePolicy } from "./prepared-policy.js";
import { checkPolicy, readDocument } from "./read.js";
import { BINDING_KIND, type BindingResource, POLICY_KIND, type PolicyResource } from "./resource.js";
import { validateBinding } from "./validate-binding.js";

/** Options of preparing documents. */
export interface PrepareOptions {
  readonly compilers: MutationCompilers;
  /** How objects of built-in kinds are merged. */
  readonly schemas: BundledSchemas;
  /** Makes the schemas by which expressions are examined; absent: they are not. */
  readonly checked?: SchemaFactory | undefined;
  /** Whether they come from a cluster, which says what custom resources look like; default false. */
  readonly inCluster?: boolean;
  /** The server that policies are written for, which must accept them. Absent: any known version. */
  readonly server?: Server<MutationCompilers>;
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
  { compilers, schemas, server, checked, inCluster = false }: PrepareOptions,
): PreparedDocuments {
  const problems: Problem[] = [];
  const found = sortDocuments(documents, (document) => readDocument(document, server?.version), problems);
  const { policies, objects } = found;
  const checkBroken = (resource: PolicyResource | BindingResource): readonly FieldError[] =>
    resource.kind === BINDING_KIND
      ? validateBinding(resource as BindingResource, server)
      : checkPolicy(resource as PolicyResource, compilers, server).errors;
  problems.push(...moreMistakes(found.broken, checkBroken));
  const definitions = objects.filter(({ kind }) => kind === DEFINITION_KIND);
  const merging = joinedSchemas(schemas, customResourceSchemas(definitions, schemas));
  const typeSchemas = checked?.(definitions);
  const usable = usableBindings(found, validateBinding, problems, server);
  const prepared: PreparedPolicy[] = [];
  const needs: Needs[] = [];
  for (const { resource, document } of policies) {
    const { compiled, errors } = checkPolicy(resource, compilers, server);
    problems.push(...errors.map((error) => fieldProblem(document, "error", error)));
    problems.push(...storedWithWarnings(resource, document, server));
    problems.push(...unreachableVariables(resource, document));
    problems.push(...warningsIn(document, policyWarnings(resource.spec, compiled)));
    if (typeSchemas !== undefined) {
      problems.push(...doubtsIn(document, expressionDoubts(examined(resource.spec, compiled), typeSchemas)));
      problems.push(...warningsIn(document, atomicWritesOf(resource, compiled, typeSchemas, merging)));
      problems.push(...parameterDoubts({ resource, document }, found.bindings, objects));
    }
    const unknown = unknownGroups(resource.spec.matchConstraints, objects);
    if (!inCluster) problems.push(...warningsIn(document, unknown.warnings));
    if (errors.length > 0) continue;
    const name = resource.metadata.name ?? "";
    const own = usable.get(name);
    const bindings = own?.map(prepareTarget) ?? [EVERYTHING_MATCHED];
    const policy = preparePolicy(resource, compiled, bindings, `${POLICY_KIND} '${name}'`);
    if (policy === undefined) continue;
    prepared.push(policy);
    const specs = (own ?? []).map(({ spec }) => spec);
    needs.push(needsOf(resource.spec, expressionsIn(compiled), specs, objects), unknown.needs);
  }
  prepared.sort((a, b) => compareNames(a.name, b.name));
  const findTypes = findTypesIn(objects, schemas);
  const { dialect, watcher } = compilers.common;
  const all = allNeeds(needs);
  const options = { dialect, findTypes, typed: true, asks: all.asks, watcher };
  return {
    needs: all,
    problems,
    objects,
    policy: (id, world) => new MutatingPolicySet(prepared, { ...options, id, world }),
  };
}

/** The warnings about apply configurations. */
function atomicWritesOf(
  { spec }: PolicyResource,
  { mutations }: CompiledPolicy,
  types: SchemaSource,
  merging: MergeSchemas,
): readonly FieldError[] {
  const kinds = kindsOfRules(spec.matchConstraints?.resourceRules ?? [], types);
  return mutations.flatMap((mutation, i) => {
    if (mutation?.patchType !== "ApplyConfiguration") return [];
    const path = ["mutations", i, "applyConfiguration", "expression"];
    return atomicWrites(mutation.expressions[0], path, kinds, merging);
  });
}

const examined = (spec: PolicyResource["spec"], compiled: CompiledPolicy): ExaminedPolicy => ({
  ...commonExamined(spec, compiled),
  groups: compiled.mutations.map((mutation, i) => {
    const member = mutation?.patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    return [{ path: ["mutations", i, member, "expression"], expression: mutation?.expressions[0] }];
  }),
});
