/** `mutate`: JSON patches and strategic merges become a MutatingPolicy. */
import type { ConvertedDocument, Reason } from "../convert-policy.js";
import type { Matched } from "../match/match.js";
import { NotConverted } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import type { Scope } from "../scope.js";

/** The MutatingPolicy of a rule. */
export function mutateRule(
  _old: OldRule,
  _name: string,
  _matched: Matched,
  _scope: Scope,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  throw new NotConverted(["mutate"], "to be written");
}
