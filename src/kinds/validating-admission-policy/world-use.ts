/** What a policy will ask of the world, told from its compiled form and the documents beside it. */
import { refersTo } from "../../cel-policy/expressions/references.js";
import type { LabelSelector } from "../../cel-policy/match/label-selector.js";
import type { MatchResources } from "../../cel-policy/match/match-resources.js";
import { builtinKinds } from "../../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import { unionOf, type WorldUse } from "../../world/needs.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { prepareParamKind } from "./prepared-policy.js";
import type { BindingSpec, PolicySpec } from "./resource.js";

/** The label that every Namespace has: its value is known without seeing the Namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/** What a policy asks with its bindings. */
export function worldUse(
  spec: PolicySpec,
  compiled: CompiledPolicy,
  bindings: readonly BindingSpec[],
  objects: readonly JsonObject[],
): WorldUse {
  const brought = new Set(objects.map((object) => `${text(object, "apiVersion")}/${text(object, "kind")}`));
  const bringsNamespaces = brought.has("v1/Namespace");
  const names = (name: string): boolean =>
    Object.values(compiled)
      .flat()
      .some((expression) => expression !== undefined && refersTo(expression.source, [name]));
  const matches = [spec.matchConstraints, ...bindings.map(({ matchResources }) => matchResources)];
  const labels = matches.flatMap((match) => labelsOf(match?.namespaceSelector));
  const namespaceObject = names("namespaceObject");
  const authorizer = names("authorizer");

  const paramKind = bindings.some(({ paramRef }) => paramRef !== undefined) && prepareParamKind(spec.paramKind);
  const params = typeof paramKind === "object" ? [paramKind] : [];
  const bringsParams = params.some(({ apiVersion, kind }) => brought.has(`${apiVersion}/${kind.kind}`));
  return {
    asks: {
      namespaces: namespaceObject || labels.length > 0,
      params: params.map(({ kind }) => kind),
      authorizer,
      equivalents: matches.some((match) => match !== undefined && asksVersions(match, objects)),
    },
    needs: {
      namespaces: !bringsNamespaces && (namespaceObject || labels.some((label) => label !== NAME_LABEL)),
      params: bringsParams ? [] : params.map(({ kind }) => kind),
      authorizer,
      // Only requests in another version than the rules name need it: those fail, all others do without.
      equivalents: false,
    },
  };
}

/** The use of several policies. */
export const unionOfUses = (uses: readonly WorldUse[]): WorldUse => ({
  asks: unionOf(uses.map(({ asks }) => asks)),
  needs: unionOf(uses.map(({ needs }) => needs)),
});

function labelsOf(selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}

/** Groups of resources whose versions are known everywhere. */
const BUILTIN_GROUPS: ReadonlySet<string> = new Set(
  Array.from(builtinKinds(), ({ apiVersion }) => parseApiVersion(apiVersion)?.group ?? ""),
);

/** Whether a request can come in a version that only a cluster knows to be another of what a rule names. */
function asksVersions(match: MatchResources, objects: readonly JsonObject[]): boolean {
  if (match.matchPolicy === "Exact") return false;
  const defined = new Set(
    objects
      .filter((object) => text(object, "kind") === "CustomResourceDefinition")
      .map((definition) => text(member(definition, "spec"), "group")),
  );
  return [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])].some(
    ({ apiGroups = [], apiVersions = [] }) =>
      !apiVersions.includes("*") && apiGroups.some((group) => !BUILTIN_GROUPS.has(group) && !defined.has(group)),
  );
}
