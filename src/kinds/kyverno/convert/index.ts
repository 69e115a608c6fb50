/** Kyverno's old policies (kyverno.io: ClusterPolicy, Policy) become its CEL policies (spec kyverno-old.md). */
export {
  type ConvertedRule,
  convertPolicy,
  isOldPolicy,
  type PolicyConversion,
  type Reason,
} from "./convert-policy.js";
export { NotConverted } from "./not-converted.js";
