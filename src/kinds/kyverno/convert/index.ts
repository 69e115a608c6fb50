/** Kyverno's old policies (kyverno.io: ClusterPolicy, Policy) become its CEL policies (spec kyverno-old.md). */
export {
  type ConvertedDocument,
  type ConvertedRule,
  convertPolicy,
  isOldPolicy,
  type PolicyConversion,
  type Reason,
} from "./convert-policy.js";
export { convertException, type ExceptionConversion, isOldException, type KnownPolicy } from "./exception.js";
export { type BoundUser, bindingsOf } from "./match/users.js";
export { NotConverted } from "./not-converted.js";
export type { Circumstances, Definition } from "./old-policy.js";
export { CONVERTED_FROM, CONVERTED_RULE } from "./policy-document.js";
