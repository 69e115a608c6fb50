/** One policy's mutations run on one object, without the plugin around them: cases of the oracle that need nothing else. */

import { Waiting } from "../../../../src/cel/index.js";
import { sameValue } from "../../../../src/data/same-value.js";
import { compileCommon } from "../../../../src/kinds/admission-policy/compiled-common.js";
import { bindingsOf } from "../../../../src/kinds/admission-policy/evaluation-inputs.js";
import { RequestInputs } from "../../../../src/kinds/admission-policy/request-inputs.js";
import type { CommonPolicySpec } from "../../../../src/kinds/admission-policy/resource.js";
import { createMutationCompilers } from "../../../../src/kinds/mutating-admission-policy/compilers.js";
import { Attempt } from "../../../../src/kinds/shared/expressions/attempt.js";
import type { Expression } from "../../../../src/kinds/shared/expressions/expression.js";
import { attributesOf } from "../../../../src/kinds/shared/match/request-attributes.js";
import { compileMutation, type MutationSpec } from "../../../../src/kinds/shared/mutation/compile-mutation.js";
import { mutationOf, valueOfMutation } from "../../../../src/kinds/shared/mutation/evaluate-mutation.js";
import { applyJsonPatch } from "../../../../src/kubernetes/json-patch/apply.js";
import { parseApiVersion } from "../../../../src/kubernetes/names.js";
import { type JsonObject, text } from "../../../../src/kubernetes/object.js";
import { applyConfiguration } from "../../../../src/kubernetes/structured-merge/apply-configuration.js";
import { bundledSchemas } from "../../../../src/kubernetes/structured-merge/merge-schemas.js";
import type { AdmissionQuestion } from "../../../../src/policy/review.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import { RequestWorld } from "../../../../src/world/request-world.js";
import { FileResources } from "../../../../src/world/resources/file-resources.js";

/** A case as the oracle writes it, as far as it is read here. */
export interface MapCase {
  readonly id: string;
  readonly policies: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: CommonPolicySpec & {
      readonly mutations: readonly MutationSpec[];
      readonly reinvocationPolicy?: string;
    };
  }[];
  readonly bindings: readonly { readonly metadata: { readonly name: string }; readonly spec: JsonObject }[];
  readonly params?: readonly JsonObject[];
  readonly namespaces?: readonly JsonObject[];
  readonly restMappings?: readonly JsonObject[];
  readonly authorizer?: unknown;
  readonly request: AdmissionQuestion["request"];
  readonly result: {
    readonly allowed: boolean;
    readonly object?: JsonObject;
    readonly panic?: string;
    readonly status?: {
      readonly code: number;
      readonly details?: { readonly causes?: readonly { readonly message: string }[] };
      readonly message: string;
    };
  };
}

/** What became of the object. */
export type Ran =
  | { readonly object: unknown; readonly errors: readonly string[] }
  | { readonly internal: string }
  | { readonly panic: string };

const { common: compiler, mutations: mutationCompiler } = createMutationCompilers();
const { dialect } = compiler;
const schemas = bundledSchemas();

const EVERYTHING = '{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*/*"]}]}';

/** Whether the case has one policy and one binding, and asks for nothing but mutations of a built-in kind, run once, for every request. */
export function isSingle({ id, policies, bindings, restMappings, authorizer, request, result }: MapCase): boolean {
  const [policy, ...others] = policies;
  if (
    policy === undefined ||
    others.length > 0 ||
    bindings.length !== 1 ||
    restMappings !== undefined ||
    authorizer !== undefined
  )
    return false;
  const { matchConditions = [], paramKind, reinvocationPolicy, mutations } = policy.spec;
  if (/^(matching\/exempt|authorizer)/.test(id)) return false;
  const rules = JSON.stringify(policy.spec.matchConstraints);
  if (rules !== EVERYTHING || bindings[0]?.spec.matchResources !== undefined || result.status?.code === 404)
    return false;
  if (matchConditions.length > 0 || paramKind !== undefined || reinvocationPolicy === "IfNeeded") return false;
  return mutations.length > 0 && request.object != null && ["CREATE", "UPDATE"].includes(request.operation);
}

/** Runs the case's mutations in order. */
export function runMutations({ policies, namespaces = [], request }: MapCase): Ran {
  const spec = policies[0]?.spec;
  if (spec === undefined) throw new Error("a case has a policy");
  const common = compileCommon(spec, compiler, "stored");
  const variables = new Map<string, Expression>();
  for (const [i, variable] of common.variables.entries()) {
    const name = spec.variables?.[i]?.name;
    if (variable !== undefined && name !== undefined) variables.set(name, variable);
  }
  const documents = namespaces.map((each) => ({ ...each, apiVersion: "v1", kind: "Namespace" }));
  const resources = new FileResources(documents, { kinds: new Map(), equivalentSets: [] });
  const world = new RequestWorld({ resources, authorizer: NO_OPINION, now: () => 0 });
  let object = request.object as JsonObject;
  const errors: string[] = [];
  for (const mutation of spec.mutations) {
    const compiled = compileMutation(mutation, mutationCompiler, common.scope(true));
    if (compiled === undefined) return { internal: "expected 1 compiled evaluators" };
    const attributes = attributesOf({ ...request, object });
    const inputs = new RequestInputs(attributes, world, false);
    const attempt = new Attempt(dialect, world);
    const input = inputs.version({ outcome: "match", kind: attributes.kind, resource: attributes.resource });
    const namespace = inputs.namespace();
    if (!("object" in input) || !("reduced" in namespace)) throw new Error("what is written down is at hand");
    const all = { attempt, input, param: undefined, params: undefined, namespace, authorization: inputs };
    const bindings = bindingsOf(all, input.request, namespace.reduced, true);
    const value = valueOfMutation(compiled, { attempt, bindings, about: undefined, variables });
    if (value instanceof Waiting) throw new Error("nobody is waited for");
    const wanted = mutationOf(compiled.patchType, value, bindings);
    if (wanted.kind === "error") errors.push(wanted.message);
    else if (wanted.kind === "json-patch") {
      const outcome = applyJsonPatch(object, wanted.operations);
      if (outcome.kind === "patched") object = outcome.object;
      else if (outcome.kind === "error") errors.push(outcome.message);
      else if (outcome.kind === "internal") return { internal: outcome.message };
      else if (outcome.kind === "panic") return { panic: outcome.message };
    } else {
      const { group, version } = parseApiVersion(text(object, "apiVersion")) ?? { group: "", version: "" };
      const ofVersion = schemas.version(group, version);
      if (ofVersion === undefined) throw new Error(`no schemas of ${group}/${version}`);
      const applied = applyConfiguration(ofVersion, object, wanted.configuration);
      if ("failure" in applied) errors.push(applied.failure);
      else object = applied.object;
    }
  }
  return { object, errors };
}

/** Messages that name several fields do so in random order. */
const sorted = (message: string): string => {
  const [head, fields] = message.split("may not mutate atomic arrays, maps or structs: ");
  const lines = (head ?? "").split("\n").sort().join("\n");
  return fields === undefined ? lines : `${head}${fields.split(", ").sort().join(", ")}`;
};

/** What is wrong with an outcome; `undefined` when it is the server's. */
export function difference({ policies, bindings, request, result }: MapCase, ran: Ran): string | undefined {
  const { panic, status, allowed } = result;
  if ("panic" in ran) return ran.panic === panic ? undefined : `panic ${ran.panic}`;
  if ("internal" in ran) {
    return status?.code === 500 && status.message === `Internal error occurred: ${ran.internal}`
      ? undefined
      : `internal ${ran.internal}, not ${status?.message}`;
  }
  if (panic !== undefined) return "no panic";
  const ignores = policies[0]?.spec.failurePolicy === "Ignore";
  const by = `policy '${policies[0]?.metadata.name}' with binding '${bindings[0]?.metadata.name}' denied request: `;
  const errors = ignores ? [] : ran.errors.map((error) => sorted(by + error));
  const wanted = allowed ? [] : (status?.details?.causes ?? []).map(({ message }) => sorted(message));
  if (JSON.stringify(errors) !== JSON.stringify(wanted)) return `says ${errors.join("\n")}\nnot  ${wanted.join("\n")}`;
  if (!allowed) return undefined;
  const object = result.object ?? request.object;
  return sameValue(ran.object, object) ? undefined : `makes ${JSON.stringify(ran.object)}`;
}
