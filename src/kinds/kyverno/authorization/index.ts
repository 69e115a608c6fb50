/** The exports of policies for an authorization server. */
export type { AuthorizationAnswer } from "./answer.js";
export { Authorizer } from "./authorizer.js";
export { type AuthorizationFailure, type PreparedAuthorization, prepareAuthorization } from "./compile.js";
export { AUTHORIZATION_MODES, type AuthorizationMode, authorizationMode } from "./mode.js";
export { type AuthorizationRequest, readRequest } from "./request.js";
