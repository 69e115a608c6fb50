/** The groups of custom resources that no document defines: how their objects are merged is not known without a cluster. */
import { builtinKinds } from "../../../kubernetes/builtin-kinds.js";
import type { FieldError } from "../../../kubernetes/field-error.js";
import { parseApiVersion } from "../../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../../kubernetes/object.js";
import type { Needs } from "../../../world/needs.js";
import type { MatchResources } from "../match/match-resources.js";
import { DEFINITION_KIND } from "./merge-types.js";

/** The consequences of unknown groups. */
export interface UnknownGroups {
  /** A cluster may define them. */
  readonly needs: Needs;
  /** One for each group that a rule names, for a policy that has no cluster; paths begin in `spec`. */
  readonly warnings: readonly FieldError[];
}

let builtin: ReadonlySet<string | undefined> | undefined;

/**
 * The unknown groups of constraints.
 * @param objects the documents beside the policy, CustomResourceDefinitions among them
 * @param refused what happens to requests about them
 */
export function unknownGroups(
  match: MatchResources | undefined,
  objects: readonly JsonObject[],
  refused = "requests about them are refused with 503",
): UnknownGroups {
  builtin ??= new Set(Array.from(builtinKinds(), ({ apiVersion }) => parseApiVersion(apiVersion)?.group));
  const defined = new Set(
    objects
      .filter(({ kind }) => kind === DEFINITION_KIND)
      .map((definition) => text(member(definition, "spec"), "group")),
  );
  const warnings: FieldError[] = [];
  let any = false;
  for (const [at, { apiGroups = [] }] of (match?.resourceRules ?? []).entries()) {
    for (const group of apiGroups) {
      if (group === "*") any = true;
      else if (!defined.has(group) && !builtin.has(group)) {
        const known = `nothing here says what objects of "${group}" look like: without a cluster, ${refused}`;
        const path = ["matchConstraints", "resourceRules", at, "apiGroups"];
        warnings.push({ path, text: `${known}; give their CustomResourceDefinition beside the policy` });
      }
    }
  }
  return { needs: { asks: any || warnings.length > 0, requires: [], parameters: [] }, warnings };
}
