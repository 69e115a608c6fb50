/** What expressions of policies of either kind are evaluated on. */
import type { AuthorizerValue, Bindings, Lazy, ResourceCheckValue, Value } from "../../cel/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Attempt } from "../shared/expressions/attempt.js";
import type { NamespaceViews, VersionedInput } from "../shared/expressions/input.js";

/** What an evaluation works on. */
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

/** What is asked who may do what; made when it is first looked at, for most expressions don't name it. */
export interface Authorization {
  readonly authorizer: AuthorizerValue;
  readonly requestResource: ResourceCheckValue;
}

/**
 * The values of the variables; one shape for all, and `undefined` for those that fail as `no such attribute(s)` where they are declared, and that no
 * expression names.
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
