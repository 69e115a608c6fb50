/** `match` and `exclude`: resource rules, and match conditions for what they can't say. */
import { builtinKinds, pluralOf } from "../../../../kubernetes/builtin-kinds.js";
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { parseApiVersion } from "../../../../kubernetes/names.js";
import { member, text } from "../../../../kubernetes/object.js";
import type { MatchResources } from "../../../shared/match/match-resources.js";
import { type Cel, literal, primary, relation } from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import type { RuleDraft } from "../rule-draft.js";
import type { Roots } from "../scope.js";

/** What a rule is asked about. */
export interface Matched {
  readonly matchConstraints: MatchResources;
  /** In order, before the preconditions. */
  readonly conditions: readonly { readonly name: string; readonly cel: Cel; readonly from: FieldPath }[];
  /** The roots of expressions; with `pod` where the rule is about Pods and judges their controllers. */
  readonly roots: Roots;
  /** The same without variables of the policy. */
  readonly inlineRoots: Roots;
}

const CONTROLLERS = ["DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet", "CronJob"];
const [OBJECT, OLD_OBJECT] = [primary("object"), primary("oldObject")];
const podOf = (root: string): Cel =>
  primary(
    `${root}.kind == "Pod" ? ${root} : ${root}.kind == "CronJob" ? ${root}.spec.jobTemplate.spec.template : ${root}.spec.template`,
  );

/**
 * What a rule matches.
 * @param isCel whether the new kind's own autogen makes variants for controllers, so that none is written here
 */
export function matchOf({ rule, policy }: OldRule, draft: RuleDraft, isCel: boolean): Matched {
  const match = member(rule, "match");
  const blocks = [match, ...["any", "all"].flatMap((key) => (member(match, key) as unknown[] | undefined) ?? [])];
  const kinds = blocks.flatMap((block) => (member(member(block, "resources"), "kinds") as string[] | undefined) ?? []);
  if (kinds.length === 0) throw new NotConverted(["match"], "a rule needs kinds");
  const isPod = kinds.every((kind) => kind === "Pod");
  const controllers = text(
    member(member(policy, "metadata"), "annotations"),
    "pod-policies.kyverno.io/autogen-controllers",
  );
  const hasAutogen = isPod && !isCel && controllers !== "none";
  const wanted = hasAutogen ? [...kinds, ...CONTROLLERS] : kinds;
  const rules = wanted.flatMap((kind) => {
    const name = kind.split("/").at(-1) ?? "";
    const known = [...builtinKinds()].find((each) => each.kind === name);
    if (known === undefined) return [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }];
    return [
      { apiGroups: [parseApiVersion(known.apiVersion)?.group ?? ""], apiVersions: ["*"], resources: [pluralOf(name)] },
    ];
  });
  const names = wanted.map((kind) => kind.split("/").at(-1) ?? "");
  const unknown = rules.some(({ resources }) => resources[0] === "*");
  const roots: Roots = { object: OBJECT, oldObject: OLD_OBJECT };
  return {
    matchConstraints: { resourceRules: rules.map((each) => ({ ...each, operations: ["CREATE", "UPDATE"] })) },
    conditions: unknown
      ? [{ name: "kind", cel: relation("in", primary("request.kind.kind"), literal(names)), from: ["match"] }]
      : [],
    roots: hasAutogen
      ? {
          ...roots,
          pod: {
            object: draft.variable("pod", podOf("object"), ["match"]),
            oldObject: draft.variable("oldPod", podOf("oldObject"), ["match"]),
          },
        }
      : roots,
    inlineRoots: hasAutogen
      ? {
          ...roots,
          pod: { object: primary(`(${podOf("object").text})`), oldObject: primary(`(${podOf("oldObject").text})`) },
        }
      : roots,
  };
}
