/** `mutate`: JSON patches and strategic merges become a MutatingPolicy. */
import { type FieldPath, formatPath } from "../../../../kubernetes/field-error.js";
import { isObject, member, text } from "../../../../kubernetes/object.js";
import { GROUP, MUTATING_KIND, NAMESPACED_MUTATING_KIND } from "../../resource.js";
import * as cel from "../cel-text.js";
import { conditionsHold } from "../conditions/conditions.js";
import { withContext } from "../context/context.js";
import type { ConvertedDocument, Reason } from "../conversion.js";
import { query } from "../jmespath/query.js";
import type { Matched } from "../match/match.js";
import { NotConverted, placed } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import { metadataOf, settingsOf, usedVariables } from "../policy-document.js";
import type { Placed } from "../rule-draft.js";
import { loopOf, type Scope, withNames } from "../scope.js";
import { jsonPatchPieces } from "./json-patches.js";
import { childOf, forEach, itemOf, listOf, type Piece, type Place, surePlace, when } from "./patches.js";
import { type MergeContext, mergeConditions, mergePieces } from "./strategic-merge.js";

/** The beginning of all patches of a rule. */
interface Changed extends Omit<MergeContext, "isLoop" | "scope"> {
  readonly root: Place;
}

const WORKLOADS = new Set(
  "pods deployments daemonsets statefulsets replicasets replicationcontrollers jobs cronjobs".split(" "),
);
const EXISTING =
  "changes of objects that exist already are not converted: write a MutatingPolicy with targets, which Kyverno serves";

/** The MutatingPolicy of a rule. */
export function mutateRule(
  old: OldRule,
  name: string,
  matched: Matched,
  scope: Scope,
): { readonly documents: readonly ConvertedDocument[]; readonly notes: readonly Reason[] } {
  const { draft } = scope;
  const mutate = member(old.rule, "mutate");
  for (const key of ["targets", "mutateExistingOnPolicyUpdate"])
    if ((member(mutate, key) ?? false) !== false) throw new NotConverted(["mutate", key], EXISTING);
  const mutations: Placed<{ readonly expression: string }>[] = [];
  const write = (from: FieldPath, make: () => readonly Piece[]) => {
    const pieces = placed(from, make);
    if (pieces.length > 0) mutations.push({ expression: listOf(pieces).text, from });
  };
  const changed = changedOf(matched, scope);
  const entries = member(old.rule, "context");
  const [foreach, merge] = [member(mutate, "foreach"), member(mutate, "patchStrategicMerge")];
  if (isObject(merge)) {
    const path = ["mutate", "patchStrategicMerge"];
    const outer: Scope = { ...scope, roots: matched.inlineRoots, inline: true };
    const root = surePlace(changed.root.pointer, (outer.roots.pod ?? outer.roots).object);
    const asked: MergeContext = { ...changed, scope: withContext(entries, outer), isLoop: false };
    const anchors = placed(path, () => mergeConditions(merge, root, asked));
    draft.condition("anchors", anchors, path);
  }
  if (Array.isArray(foreach)) {
    // Kyverno reads the context before the first change, but a variable is evaluated where it is first used.
    const roots = { ...scope.roots, object: cel.primary("request.object") };
    const before = scope.roots.pod ? scope : withContext(entries, { ...scope, names: new Map(), roots });
    for (const [index, each] of foreach.entries()) {
      const { names } = index === 0 ? scope : before;
      write(["mutate", "foreach", index], () => loopPieces(each, { ...scope, names }, changed));
    }
  } else write(["mutate"], () => patchPieces(mutate, scope, changed));
  if (mutations.length === 0) throw new NotConverted(["mutate"], "this rule changes nothing");
  return { documents: [documentOf(old, name, matched, scope, mutations)], notes: draft.notes };
}

function changedOf({ matchConstraints }: Matched, { roots, shape, draft }: Scope): Changed {
  const rules = matchConstraints.resourceRules ?? [];
  const isWorkload = rules.every(({ resources = [] }) =>
    resources.every((resource) => WORKLOADS.has(resource.replace(/\/.*/, ""))),
  );
  const isBuiltin =
    shape !== undefined ||
    rules.some(({ apiGroups = [] }) => apiGroups.some((group) => /^[a-z]*$|\*|\.k8s\.io$/.test(group)));
  if (roots.pod === undefined) return { root: surePlace([], roots.object), isWorkload, isBuiltin };
  const path = cel.primary(
    'object.kind == "Pod" ? "" : object.kind == "CronJob" ? "/spec/jobTemplate/spec/template" : "/spec/template"',
  );
  const root = surePlace([draft.variable("podPath", path, ["match"])], roots.pod.object);
  return { root, isWorkload, isBuiltin };
}

/** The patches of a rule, or of an entry of `foreach` for one element. @param sure places that are there */
function patchPieces(body: unknown, scope: Scope, changed: Changed, sure: readonly Place[] = []): readonly Piece[] {
  const [merge, patches] = [member(body, "patchStrategicMerge"), member(body, "patchesJson6902")];
  if (isObject(merge)) {
    const context: MergeContext = { ...changed, scope, isLoop: scope.depth > 0 };
    return placed(["patchStrategicMerge"], () => mergePieces(merge, changed.root, context));
  }
  if (typeof patches !== "string")
    throw new NotConverted([], "one of patchStrategicMerge, patchesJson6902 and foreach is converted");
  return placed(["patchesJson6902"], () => {
    if (scope.roots.pod !== undefined)
      throw new NotConverted([], "under autogen paths of JSON patches are those of a Pod: write a rule for each kind");
    return jsonPatchPieces(patches, changed.root, scope, sure);
  });
}

/** One entry of `foreach`: its patches for each element. */
function loopPieces(body: unknown, scope: Scope, changed: Changed): readonly Piece[] {
  const source = text(body, "list");
  const term = placed(["list"], () => query(source, scope));
  // A missing list is an error here, other than in rules that validate. What is not a list is the only element.
  const orEmpty = term.orEmpty ?? (term.optional ? cel.orValue(term.optional, cel.list([])) : term.cel);
  const isList = term.type === "list" || term.type === "dyn";
  const list = !isList ? cel.list([term.cel]) : term.fails ? term.cel : orEmpty;
  const { name: item, inner } = loopOf(scope, "element");
  const index = loopOf(scope, "index").name;
  const at = { cel: cel.primary(index), type: "int", nullable: false, fails: false } as const;
  const element = { type: "dyn", nullable: false, fails: false, ...term.items, cel: cel.primary(item) } as const;
  const named = ["", String(scope.depth)].flatMap((depth) => [
    [`element${depth}`, element] as const,
    [`elementIndex${depth}`, at] as const,
  ]);
  const inside = withContext(member(body, "context"), withNames(inner, named));
  const asked = member(body, "preconditions") ?? undefined;
  const holds = asked === undefined ? cel.TRUE : placed(["preconditions"], () => conditionsHold(asked, inside));
  const [merge, foreach] = [member(body, "patchStrategicMerge"), member(body, "foreach")];
  const sure = elementPlaces(source, changed.root, at.cel, element.cel);
  const looped: Changed = { ...changed, element: sure.at(-1) };
  const context: MergeContext = { ...looped, scope: inside, isLoop: true };
  const anchors = isObject(merge)
    ? placed(["patchStrategicMerge"], () => mergeConditions(merge, changed.root, context))
    : cel.TRUE;
  const condition = cel.and(holds, anchors);
  const pieces = Array.isArray(foreach)
    ? foreach.flatMap((each, i) => placed(["foreach", i], () => loopPieces(each, inside, changed)))
    : patchPieces(body, inside, looped, sure);
  // Patches that do not depend on the element are made once, before.
  const bare = (code: string) => code.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
  const isOfElement = (piece: Piece) => new RegExp(`\\b(?:${item}|${index})\\b`).test(bare(listOf([piece]).text));
  const once = pieces.filter((piece) => !isOfElement(piece));
  const isAny =
    condition.text === "true"
      ? cel.relation(">", cel.call("size", list), cel.literal(0))
      : cel.loop(list, "exists", item, condition);
  if (once.length > 0 && new RegExp(`\\b${index}\\b`).test(bare(condition.text)))
    throw new NotConverted(
      ["preconditions"],
      "elementIndex is not converted where a patch is the same for all elements",
    );
  const order = text(body, "order") || (isObject(merge) ? "Descending" : "Ascending");
  if (scope.roots.pod && text(body, "order") === "Ascending")
    scope.draft.note(["mutate", "foreach"], "of controllers Kyverno takes the elements from the last one to the first");
  if (isObject(merge) && (condition.text !== "true" || sure.length === 0 || order === "Ascending"))
    scope.draft.note(["mutate", "foreach"], "Kyverno moves list items that it merges to the front: here they stay");
  return [
    ...when(isAny, once),
    ...forEach(list, { index, item }, condition, pieces.filter(isOfElement), order === "Descending"),
  ];
}

/** The places from the object to an element of a list of it: they are there in each round. */
function elementPlaces(source: string, root: Place, index: cel.Cel, element: cel.Cel): readonly Place[] {
  const [, path] = /^request\.object\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?:\[\])?$/.exec(source.trim()) ?? [];
  const places: Place[] = [];
  for (const key of path?.split(".") ?? []) places.push(childOf(places.at(-1) ?? root, key));
  const list = places.at(-1);
  return list === undefined ? [] : [...places, itemOf(list, index, element)];
}

function documentOf(
  old: OldRule,
  name: string,
  { matchConstraints }: Matched,
  { draft }: Scope,
  mutations: readonly Placed<{ readonly expression: string }>[],
): ConvertedDocument {
  const places = new Map<string, FieldPath>();
  const listed = <T extends object>(key: string, list: readonly Placed<T>[]) =>
    list.map(({ from, ...rest }, index) => {
      places.set(formatPath(["spec", key, index]), ["spec", "rules", old.index, ...from]);
      return rest;
    });
  const { conditions, auditAnnotations } = draft;
  const variables = usedVariables({ variables: draft.variables, validations: mutations, auditAnnotations });
  const { evaluation, ...settings } = settingsOf(old.policy);
  const admission = member(evaluation, "admission");
  const value = {
    apiVersion: `${GROUP}/v1`,
    kind: old.policy.kind === "Policy" ? NAMESPACED_MUTATING_KIND : MUTATING_KIND,
    metadata: metadataOf(old, name),
    spec: {
      ...settings,
      ...(admission !== undefined && { evaluation: { admission } }),
      autogen: { podControllers: { controllers: [] } },
      matchConstraints,
      ...(conditions.length > 0 && { matchConditions: listed("matchConditions", conditions) }),
      ...(variables.length > 0 && { variables: listed("variables", variables) }),
      mutations: listed("mutations", mutations).map((each) => ({ patchType: "JSONPatch", jsonPatch: each })),
    },
  };
  return { value, places };
}
