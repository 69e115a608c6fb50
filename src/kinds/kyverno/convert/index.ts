/** Kyverno's old policies (kyverno.io: ClusterPolicy, Policy) become its CEL policies (spec kyverno-old.md). */

export { documentErrors } from "./cel-rule.js";
export type { ConvertedDocument, ConvertedRule, PolicyConversion, Reason } from "./conversion.js";
export { convertPolicy, isOldPolicy } from "./convert-policy.js";
export { convertException, type ExceptionConversion, isOldException, type KnownPolicy } from "./exception.js";
export { type BoundUser, bindingsOf } from "./match/users.js";
export type { Circumstances, Definition } from "./old-policy.js";
export { CONVERTED_FROM, CONVERTED_RULE } from "./policy-document.js";
export { standIns } from "./stand-in.js";
