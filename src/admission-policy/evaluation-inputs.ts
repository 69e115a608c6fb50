/** What expressions of policies of either kind are evaluated on. */
import type { AuthorizerValue, Bindings, Lazy, ResourceCheckValue, Value } from "../cel/index.js";
import type { Attempt } from "../cel-policy/expressions/attempt.js";
import type { NamespaceViews, VersionedInput } from "../cel-policy/expressions/input.js";
import type { JsonObject } from "../kubernetes/object.js";

/** What an evaluation works on. */
export interface EvaluationInputs {
  readonly attempt: Attempt;
  readonly input: VersionedInput;
  /** The parameter as it was found. */
  readonly param: unknown;
  /** `undefined` where the policy declares no parameters, null where there is none. */
  readonly params: JsonObject | null | undefined;
  readonly namespace: NamespaceViews;
  readonly authorizer: AuthorizerValue;
  readonly requestResource: ResourceCheckValue;
}

/** The values of the variables; one shape for all, and `undefined` for those that fail as `no such attribute(s)` where they are declared. */
export function bindingsOf(
  { input, params, authorizer, requestResource }: EvaluationInputs,
  request: Value | Lazy,
  namespaceObject: Value | Lazy,
  withAuthorizer: boolean,
): Bindings {
  return {
    object: input.object,
    oldObject: input.oldObject,
    request,
    namespaceObject,
    params: params as Value | undefined,
    authorizer: withAuthorizer ? authorizer : undefined,
    "authorizer.requestResource": withAuthorizer ? requestResource : undefined,
  };
}
