/** MutatingPolicies without a server: applied to one request after another, in the order in which they are written, as Kyverno's command does. */
import type { JsonObject } from "../../../kubernetes/object.js";
import { type BundledSchemas, bundledSchemas } from "../../../kubernetes/structured-merge/merge-schemas.js";
import type { AdmissionRequest } from "../../../policy/index.js";
import type { World } from "../../../world/world.js";
import { type FindTypes, findTypesIn } from "../../shared/mutation/merge-types.js";
import type { CompiledPolicy } from "../compiled-policy.js";
import type { Compilers } from "../dialect.js";
import { type EngineContext, KyvernoEngine } from "../engine/engine.js";
import type { RuleResult } from "../engine/response.js";
import { type CompileFailure, preparePolicies } from "../prepare-policies.js";
import type { ExceptionResource, PolicyResource } from "../resource.js";

let bundled: BundledSchemas | undefined;

/**
 * Finds how objects are merged. The types of built-in kinds are read when it is first called.
 * @param objects documents, CustomResourceDefinitions among them
 */
export function mergeTypesIn(objects: readonly JsonObject[]): FindTypes {
  bundled ??= bundledSchemas();
  return findTypesIn(bundled, objects);
}

/** Options of applying policies. */
export interface ApplyOptions {
  readonly world: World;
  /** CustomResourceDefinitions, by which custom resources are merged. */
  readonly definitions?: readonly JsonObject[];
}

/** An engine of mutating policies by the rules of Kyverno's command: its answers have the changed object, and one response for each policy that may match. */
export const mutatingEngine = (
  policies: readonly CompiledPolicy[],
  { world, definitions = [] }: ApplyOptions,
): KyvernoEngine =>
  new KyvernoEngine(policies, { world, flavour: "command-line", findTypes: mergeTypesIn(definitions), inOrder: true });

/** The result of a policy that matched. */
export interface MutatingRow extends Pick<RuleResult, "rule" | "status" | "message" | "properties" | "exceptions"> {
  readonly policy: PolicyResource;
}

/** The results of all policies, and the object as they leave it. */
export interface MutatingAnswer {
  /** Policies that do not compile: then there is no other result. */
  readonly failures: readonly CompileFailure[];
  /** In the order of evaluation; none for a policy whose constraints do not match. */
  readonly rows: readonly MutatingRow[];
  /** The request's object where nothing has changed it. */
  readonly object: unknown;
  /** Why nothing counts; absent: all of it does. */
  readonly failure?: string;
}

const NO_LIMITS: EngineContext = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/**
 * Compiles MutatingPolicies with their exceptions, and applies them to a request.
 * @param compilers kept for everything that is asked together; default: new ones
 */
export async function applyMutatingPolicies(
  resources: readonly PolicyResource[],
  exceptions: readonly ExceptionResource[],
  request: AdmissionRequest,
  options: ApplyOptions & { readonly compilers?: Compilers },
): Promise<MutatingAnswer> {
  const { compilers } = options;
  const { policies, failures } = preparePolicies(resources, exceptions, compilers && { compilers });
  if (failures.length > 0) return { failures, rows: [], object: request.object };
  const input = { kind: "admission", request } as const;
  const { responses, object, failure } = await mutatingEngine(policies, options).decide(input, NO_LIMITS);
  if (failure !== undefined) return { failures, rows: [], object: request.object, failure: failure.message };
  const rows = responses.flatMap(({ policy, result }) => (result ? [{ ...result, policy: policy.resource }] : []));
  return { failures, rows, object: object ?? request.object };
}
