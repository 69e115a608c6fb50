/** `mutate`: JSON patches and strategic merges become a MutatingPolicy. */

import { builtinKinds } from "../../../../kubernetes/builtin-kinds.js";
import { type FieldPath, formatPath } from "../../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../../../kubernetes/object.js";
import { MUTATING_KIND, NAMESPACED_MUTATING_KIND } from "../../resource.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { conditionsHold } from "../conditions/conditions.js";
import { withContext } from "../context/context.js";
import type { ConvertedDocument, Reason } from "../conversion.js";
import { query } from "../jmespath/query.js";
import type { Matched } from "../match/match.js";
import { NotConverted, placed } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import { CONVERTED_FROM, CONVERTED_RULE } from "../policy-document.js";
import { loopOf, type Scope, withNames } from "../scope.js";
import { jsonPatchPieces } from "./json-patches.js";
import { forEach, listOf, type Piece, type Place, surePlace, when } from "./patches.js";
import { type MergeContext, mergeConditions, mergePieces } from "./strategic-merge.js";

/** What patches of a rule begin with. */
interface Changed extends Omit<MergeContext, "isLoop" | "scope"> {
  readonly root: Place;
}

const WORKLOADS = new Set(
  "Pod Deployment DaemonSet StatefulSet ReplicaSet ReplicationController Job CronJob".split(" "),
);

/** The MutatingPolicy of a rule. */
export function mutateRule(
  old: OldRule,
  name: string,
  matched: Matched,
  scope: Scope,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  const mutate = member(old.rule, "mutate");
  const { draft } = scope;
  if (member(mutate, "targets") !== undefined || member(mutate, "mutateExistingOnPolicyUpdate") === true)
    throw new NotConverted(
      ["mutate", "targets"],
      "changes of objects that exist already are not converted: write a MutatingPolicy with targets for Kyverno",
    );
  const kinds = kindsOf(old);
  const builtin = new Set(Array.from(builtinKinds(), ({ kind }) => kind));
  const changed: Changed = {
    root: rootOf(scope, true),
    isBuiltin: kinds.some((kind) => builtin.has(kind) || kind.includes("*")),
    isWorkload: kinds.every((kind) => WORKLOADS.has(kind)),
  };
  const [foreach, merge, patches] = ["foreach", "patchStrategicMerge", "patchesJson6902"].map((key) =>
    member(mutate, key),
  );
  const mutations: { readonly expression: string; readonly from: FieldPath }[] = [];
  const write = (pieces: readonly Piece[], from: FieldPath) => {
    if (pieces.length > 0) mutations.push({ expression: listOf(pieces).text, from });
  };
  if (Array.isArray(foreach)) {
    // Kyverno reads the context before the first change; a variable is evaluated where it is first used.
    const before: Scope = {
      ...scope,
      names: new Map(),
      roots: { ...scope.roots, object: cel.primary("request.object") },
    };
    const { names } = scope.roots.pod ? scope : withContext(member(old.rule, "context"), before);
    const later: Scope = { ...scope, names };
    for (const [index, each] of foreach.entries()) {
      const path = ["mutate", "foreach", index];
      write(
        placed(path, () => loopPieces(each, index === 0 ? scope : later, changed)),
        path,
      );
    }
  } else if (isObject(merge)) {
    const path = ["mutate", "patchStrategicMerge"];
    placed(path, () => refuseOtherValues(merge));
    const outer: Scope = { ...scope, roots: matched.inlineRoots, inline: true };
    const asked = { ...changed, scope: withContext(member(old.rule, "context"), outer), isLoop: false };
    const condition = placed(path, () => mergeConditions(merge, rootOf(outer, false), asked));
    draft.condition("anchors", condition, path);
    write(
      placed(path, () => mergePieces(merge, changed.root, { ...asked, scope })),
      path,
    );
  } else if (typeof patches === "string") {
    const path = ["mutate", "patchesJson6902"];
    write(
      placed(path, () => patchPieces(patches, scope, changed)),
      path,
    );
  } else throw new NotConverted(["mutate"], "one of patchStrategicMerge, patchesJson6902 and foreach is converted");
  if (mutations.length === 0) throw new NotConverted(["mutate"], "this rule changes nothing");
  return { documents: [documentOf(old, name, matched, scope, mutations)], notes: draft.notes };
}

/** The kinds that a rule matches, without groups, versions and subresources. */
function kindsOf({ rule }: OldRule): readonly string[] {
  const match = member(rule, "match");
  const blocks = [match, ...["any", "all"].flatMap((key) => [member(match, key) ?? []].flat())];
  return blocks
    .flatMap((block) => [member(member(block, "resources"), "kinds") ?? []].flat())
    .map((kind) => /(?:^|\/)([A-Z*?][^/]*)(?:\/[a-z]+)?$/.exec(String(kind))?.[1] ?? String(kind));
}

/** The place where patches begin: the object, or of a controller its Pod. */
function rootOf({ roots, draft }: Scope, hasPath: boolean): Place {
  if (roots.pod === undefined) return surePlace([], roots.object);
  const path = cel.primary(
    'object.kind == "Pod" ? "" : object.kind == "CronJob" ? "/spec/jobTemplate/spec/template" : "/spec/template"',
  );
  return surePlace(hasPath ? [draft.variable("podPath", path, ["match"])] : [], roots.pod.object);
}

function patchPieces(patches: string, scope: Scope, { root }: Changed): readonly Piece[] {
  if (scope.roots.pod !== undefined)
    throw new NotConverted(
      [],
      "JSON patches under autogen are not converted: their paths are those of a Pod; write a rule for each kind",
    );
  return jsonPatchPieces(patches, root, scope);
}

/** Kyverno refuses labels and annotations that are not texts. */
function refuseOtherValues(merge: JsonObject): void {
  for (const key of ["labels", "annotations"]) {
    const values = member(member(merge, "metadata"), key);
    for (const [name, value] of Object.entries(isObject(values) ? values : {}))
      if (typeof value !== "string")
        throw new NotConverted(["metadata", key, name], `${key} are texts: Kyverno refuses another value`);
  }
}

/** One entry of `foreach`: its patches for each element. */
function loopPieces(each: unknown, scope: Scope, changed: Changed): readonly Piece[] {
  const list = placed(["list"], () => elementsOf(query(text(each, "list"), scope)));
  const { name, inner } = loopOf(scope, "element");
  const index = loopOf(scope, "index").name;
  const element = {
    cel: cel.primary(name),
    type: list.type,
    nullable: false,
    fails: false,
    ...(list.items && { items: list.items }),
  };
  const at = { cel: cel.primary(index), type: "int", nullable: false, fails: false } as const;
  const inside = withContext(
    member(each, "context"),
    withNames(inner, [
      ["element", element],
      ["elementIndex", at],
      [`element${scope.depth}`, element],
      [`elementIndex${scope.depth}`, at],
    ]),
  );
  const preconditions = member(each, "preconditions");
  const holds =
    preconditions === undefined || preconditions === null
      ? cel.TRUE
      : placed(["preconditions"], () => conditionsHold(preconditions, inside));
  const { pieces, condition } = elementPieces(each, inside, changed);
  const order = text(each, "order");
  const isReversed = order === "" ? member(each, "patchStrategicMerge") !== undefined : order === "Descending";
  // What does not depend on the element is done once, before.
  const names = new RegExp(`\\b(?:${name}|${index})\\b`);
  const dependent = (piece: Piece) => names.test(listOf([piece]).text);
  const all = cel.and(holds, condition);
  const isAsked =
    all.text === "true"
      ? cel.relation(">", cel.call("size", list.cel), cel.literal(0))
      : cel.loop(list.cel, "exists", name, all);
  const once = pieces.filter((piece) => !dependent(piece));
  const usesIndex = new RegExp(`\\b${index}\\b`).test(all.text);
  if (usesIndex && once.length > 0)
    throw new NotConverted(
      [],
      "a condition on elementIndex with a patch that is the same for all elements is not converted",
    );
  return [
    ...when(isAsked, once),
    ...forEach(list.cel, { index, item: name }, all, pieces.filter(dependent), isReversed),
  ];
}

function elementPieces(each: unknown, inside: Scope, changed: Changed) {
  const [foreach, merge, patches] = ["foreach", "patchStrategicMerge", "patchesJson6902"].map((key) =>
    member(each, key),
  );
  if (Array.isArray(foreach))
    return {
      condition: cel.TRUE,
      pieces: foreach.flatMap((inner, index) => placed(["foreach", index], () => loopPieces(inner, inside, changed))),
    };
  if (typeof patches === "string")
    return { condition: cel.TRUE, pieces: placed(["patchesJson6902"], () => patchPieces(patches, inside, changed)) };
  if (!isObject(merge))
    throw new NotConverted([], "one of patchStrategicMerge, patchesJson6902 and foreach is converted");
  const context: MergeContext = { ...changed, scope: inside, isLoop: true };
  return placed(["patchStrategicMerge"], () => ({
    condition: mergeConditions(merge, changed.root, context),
    pieces: mergePieces(merge, changed.root, context),
  }));
}

/** The elements of a list: none where it is missing. */
function elementsOf(term: ReturnType<typeof query>) {
  const items = term.items;
  const list: Cel = term.orEmpty ?? (term.optional ? cel.orValue(term.optional, cel.list([])) : term.cel);
  return { cel: list, type: items?.type ?? ("dyn" as const), items: items?.items };
}

function documentOf(
  { policy, name: ruleName }: OldRule,
  name: string,
  { matchConstraints }: Matched,
  { draft }: Scope,
  mutations: readonly { readonly expression: string; readonly from: FieldPath }[],
): ConvertedDocument {
  const places = new Map<string, FieldPath>();
  const listed = (key: string, list: readonly { readonly from: FieldPath }[]) =>
    list.map(({ from, ...rest }, index) => {
      places.set(formatPath(["spec", key, index]), from);
      return rest;
    });
  const namespace = text(policy, "kind") === "Policy" ? text(member(policy, "metadata"), "namespace") : undefined;
  const from = namespace === undefined ? `ClusterPolicy/${nameOf(policy)}` : `Policy/${namespace}/${nameOf(policy)}`;
  const failurePolicy = text(member(policy, "spec"), "failurePolicy");
  const value = {
    apiVersion: "policies.kyverno.io/v1",
    kind: namespace === undefined ? MUTATING_KIND : NAMESPACED_MUTATING_KIND,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      annotations: { [CONVERTED_FROM]: from, [CONVERTED_RULE]: ruleName },
    },
    spec: {
      ...(failurePolicy !== "" && { failurePolicy }),
      autogen: { podControllers: { controllers: [] } },
      matchConstraints,
      ...(draft.conditions.length > 0 && { matchConditions: listed("matchConditions", draft.conditions) }),
      ...(draft.variables.length > 0 && { variables: listed("variables", draft.variables) }),
      mutations: listed("mutations", mutations).map((each) => ({
        patchType: "JSONPatch",
        jsonPatch: { expression: (each as { readonly expression: string }).expression },
      })),
    },
  };
  return { value, places };
}
