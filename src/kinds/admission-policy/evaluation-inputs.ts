/** The inputs of expressions of policies of either kind. */
import type { AuthorizerValue, Bindings, Lazy, ResourceCheckValue, Value } from "../../cel/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Attempt } from "../shared/expressions/attempt.js";
import type { NamespaceViews, VersionedInput } from "../shared/expressions/input.js";

/** The inputs of an evaluation. */
export interface EvaluationInputs {
  readonly attempt: Attempt;
  readonly input: VersionedInput;
  /** The parameter as it was found. */
  readonly param: unknown;
  /** `undefined` where the policy declares no parameters, null where there is none. */
  readonly params: JsonObject | null | undefined;
  readonly namespace: NamespaceViews;
  readonly authorization: Authorization;
}

/** The authorizers of a request; made when first read, since most expressions don't name them. */
export interface Authorization {
  readonly authorizer: AuthorizerValue;
  readonly requestResource: ResourceCheckValue;
}

/**
 * The values of the variables, always of one shape. It is `undefined` for those that fail as `no such attribute(s)` where they are declared, and for those that
 * no expression names.
 */
export function bindingsOf(
  { input, params, authorization }: EvaluationInputs,
  request: Value | Lazy | undefined,
  namespaceObject: Value | Lazy | undefined,
  withAuthorizer: boolean,
): Bindings {
  return {
    object: input.object,
    oldObject: input.oldObject,
    request,
    namespaceObject,
    params: params as Value | undefined,
    authorizer: withAuthorizer ? authorization.authorizer : undefined,
    "authorizer.requestResource": withAuthorizer ? authorization.requestResource : undefined,
  };
}
