/** `match` and `exclude`: resource rules, and match conditions for what they can't say. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { member, namespaceOf } from "../../../../kubernetes/object.js";
import type { MatchResources } from "../../../shared/match/match-resources.js";
import type { ResourceRule } from "../../../shared/match/resource-rule.js";
import { and, type Cel, equal, literal, not, or, primary, TRUE } from "../cel-text.js";
import { NotConverted, placed } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import type { RuleDraft } from "../rule-draft.js";
import type { Roots } from "../scope.js";
import { type Block, blocksOf, CONTROLLERS, controllersOf } from "./autogen.js";
import { blockTests, isPlainSelector, type Subjects, type Test } from "./block-tests.js";
import { anyKind, type KindRule, kindRule, parseKind } from "./kinds.js";
import { operationsOf } from "./operations.js";
import { matchesAny } from "./wildcard.js";

/** The requests that a rule is asked about. */
export interface Matched {
  readonly matchConstraints: MatchResources;
  /** In order, before the preconditions. */
  readonly conditions: readonly { readonly name: string; readonly cel: Cel; readonly from: FieldPath }[];
  /** The roots of expressions; with `pod` where the rule is about Pods and judges their controllers. */
  readonly roots: Roots;
  /** The same without variables of the policy. */
  readonly inlineRoots: Roots;
  /** The kinds of controllers whose Pod templates are judged; of a rule in CEL they are not in `matchConstraints`. */
  readonly controllers: readonly string[];
}

const [OBJECT, OLD_OBJECT] = [primary("object"), primary("oldObject")];
const JUDGED = 'request.operation == "DELETE" ? oldObject : object';

/**
 * The requests that a rule matches.
 * @param isCel whether the new kind's own autogen makes variants for controllers, so that none is written here
 */
export function matchOf(old: OldRule, draft: RuleDraft, isCel: boolean): Matched {
  const { rule, policy, circumstances } = old;
  const { join, blocks } = blocksOf(rule, "match");
  const lacking = blocks.length === 0 ? { path: ["match"] } : blocks.find(({ kinds }) => kinds.length === 0);
  if (lacking !== undefined && (join === "any" || blocks.length === 0))
    throw new NotConverted([...lacking.path, "resources", "kinds"], "Kyverno refuses a block without kinds");
  const controllers = controllersOf(old);
  const own = (kinds: readonly string[], path: FieldPath): readonly KindRule[] =>
    kinds.flatMap(
      (kind) => placed([...path, "resources", "kinds"], () => kindRule(kind, circumstances.definitions ?? [])) ?? [],
    );
  const templates = isCel
    ? []
    : own(
        controllers.map((kind) => CONTROLLERS.get(kind) ?? kind),
        [],
      );
  const found = blocks.map(({ kinds, path }) => [...own(kinds, path), ...templates]);
  const operations = operationsOf(rule, blocks);
  const all = found.flat();
  const spread = new Set(operations.flat());
  const isDeletion = spread.has("DELETE");
  const object = isDeletion ? (spread.size === 1 ? OLD_OBJECT : primary(`(${JUDGED})`)) : OBJECT;
  const subjects: Subjects = {
    object,
    namespaced: all.every(({ namespaced }) => namespaced),
    namespaces: all.every((each) => each.namespaces && each.exact && each.rule.resources?.[0] === "namespaces")
      ? "all"
      : all.some((each) => each.namespaces)
        ? "some"
        : "none",
    confined: policy.kind === "Policy",
  };
  const parts = blocks.map(
    (block, index): Part => ({
      block,
      kinds: found[index] ?? [],
      operations: operations[index] ?? [],
      tests: blockTests(block, subjects, true),
    }),
  );
  const wide = parts.map((part) => ({ ...part, tests: part.tests.filter(({ name }) => name !== "namespace-labels") }));
  const selector = blocks.length === 1 ? member(blocks[0]?.resources, "namespaceSelector") : undefined;
  const selected = subjects.namespaced && isPlainSelector(selector) ? selector : undefined;
  const conditions = [
    ...(subjects.confined
      ? [
          {
            name: "namespace",
            cel: equal(primary("request.namespace"), literal(namespaceOf(policy) || "default")),
            from: [],
          },
        ]
      : []),
    ...(join === "any" ? anyConditions(selected === undefined ? parts : wide) : allConditions(parts)),
    ...excludes(old, blocks, subjects, controllers),
  ];
  const rules = join === "any" ? parts : parts.filter(({ kinds }) => kinds.length > 0).slice(0, 1);
  const common = join === "any" ? undefined : operations.reduce((a, b) => a.filter((each) => b.includes(each)));
  const resourceRules = merged(
    rules.flatMap((part) => part.kinds.map((kind) => ({ ...kind.rule, operations: common ?? part.operations }))),
  );
  if (resourceRules.length === 0) throw new NotConverted(["match"], "no object can match");
  // The new kind's autogen replaces `object.spec` in expressions, and no others.
  const inline = { object: isCel && controllers.length > 0 ? OBJECT : object, oldObject: OLD_OBJECT };
  const named =
    isDeletion && spread.size > 1 && !isCel ? draft.variable("resource", primary(JUDGED), ["match"]) : object;
  const roots = { object: named, oldObject: OLD_OBJECT };
  const hasPod = controllers.length > 0 && !isCel;
  return {
    matchConstraints: { ...(selected && { namespaceSelector: selected }), resourceRules },
    conditions: numbered(conditions),
    roots: hasPod
      ? {
          ...roots,
          pod: {
            object: draft.variable("pod", podOf(named.text, controllers), ["match"]),
            oldObject: draft.variable("oldPod", podOf("oldObject", controllers, true), ["match"]),
          },
        }
      : roots,
    inlineRoots: hasPod
      ? {
          ...inline,
          pod: {
            object: parenthesized(podOf(object.text, controllers)),
            oldObject: parenthesized(podOf("oldObject", controllers, true)),
          },
        }
      : inline,
    controllers,
  };
}

/** A block of `match` in its parts. */
interface Part {
  readonly block: Block;
  readonly kinds: readonly KindRule[];
  readonly operations: readonly string[];
  readonly tests: readonly Test[];
}

const operationTest = (operations: readonly string[]): Cel => matchesAny(primary("request.operation"), operations);
const isExact = ({ kinds }: Part): boolean => kinds.every(({ exact }) => exact);
const wordsOf = (list: readonly string[]): string => [...list].sort().join();
const kindTest = ({ kinds, block }: Part): Test => ({
  name: "kind",
  cel: anyKind(kinds),
  from: [...block.path, "resources", "kinds"],
});

/** The conditions of blocks of which one is enough: none where resource rules say all. */
function anyConditions(parts: readonly Part[]): readonly Test[] {
  const [first, ...others] = parts;
  if (first === undefined) return [];
  const same = (by: (part: Part) => string): boolean => others.every((part) => by(part) === by(first));
  if (same(({ tests }) => and(...tests.map(({ cel }) => cel)).text)) {
    if (parts.every(isExact)) return first.tests;
    if (others.length === 0) return [kindTest(first), ...first.tests];
  }
  const [sameKinds, sameOperations] = [
    same(({ block }) => wordsOf(block.kinds)),
    same((part) => wordsOf(part.operations)),
  ];
  const alternatives = parts.map((part) =>
    and(
      sameKinds && isExact(part) ? TRUE : kindTest(part).cel,
      sameOperations ? TRUE : operationTest(part.operations),
      ...part.tests.map(({ cel }) => cel),
    ),
  );
  return [{ name: "match", cel: or(...alternatives), from: ["match", "any"] }];
}

/** The conditions of blocks that must all match. */
function allConditions(parts: readonly Part[]): readonly Test[] {
  const withKinds = parts.filter(({ kinds }) => kinds.length > 0);
  const first = withKinds[0];
  const isSaid =
    first !== undefined &&
    isExact(first) &&
    withKinds.every((part) => wordsOf(part.block.kinds) === wordsOf(first.block.kinds));
  return [...(isSaid ? [] : withKinds.map(kindTest)), ...parts.flatMap(({ tests }) => tests)];
}

/** Conditions that leave out what blocks of `exclude` match. */
function excludes(
  old: OldRule,
  matched: readonly Block[],
  subjects: Subjects,
  controllers: readonly string[],
): readonly Test[] {
  const { join, blocks } = blocksOf(old.rule, "exclude");
  const kindsOfMatch = new Set(matched.flatMap(({ kinds }) => kinds));
  const hasSubresources = [...kindsOfMatch].some((kind) => parseKind(kind)?.subresource !== "");
  const cels = blocks.flatMap((block) => {
    const { kinds, path, resources } = block;
    const isAll = kinds.length === 0 || [...kindsOfMatch].every((kind) => kinds.includes(kind));
    // A rule about CronJobs takes them for the kinds of all blocks.
    const named = controllers.includes("CronJob") ? [...kinds, "batch/v1/CronJob"] : kinds;
    const rules = placed([...path, "resources", "kinds"], () =>
      named.flatMap((kind) => kindRule(kind, old.circumstances.definitions ?? []) ?? []),
    );
    const operations = member(resources, "operations");
    const hasOperations = Array.isArray(operations) && operations.length > 0;
    // An object is not its subresources, whose requests may have its kind.
    const isWhole = hasSubresources && kinds.length > 0 && kinds.every((kind) => parseKind(kind)?.subresource === "");
    const tests = [
      isAll ? TRUE : anyKind(rules),
      isWhole ? primary('request.?subResource.orValue("") in ["", "ephemeralcontainers"]') : TRUE,
      hasOperations ? operationTest(operations.map(String)) : TRUE,
      ...blockTests(block, subjects, false).map(({ cel }) => cel),
    ];
    const isEmpty = kinds.length === 0 && tests.every(({ text: source }) => source === "true");
    return isEmpty ? [] : [{ name: "exclude", cel: and(...tests), from: path }];
  });
  const whole =
    join === "all" && cels.length > 0
      ? [{ name: "exclude", cel: and(...cels.map(({ cel }) => cel)), from: ["exclude"] }]
      : cels;
  const nothing = whole.find(({ cel }) => cel.text === "true");
  if (nothing !== undefined)
    throw new NotConverted(nothing.from, "it excludes all that the rule matches: the rule judges nothing");
  return whole.map(({ cel, ...rest }) => ({ ...rest, cel: not(cel) }));
}

/** Rules that differ in resources only become one. */
function merged(rules: readonly ResourceRule[]): readonly ResourceRule[] {
  const byRest = new Map<string, ResourceRule>();
  for (const { resources = [], operations, ...rest } of rules) {
    if (operations?.length === 0) continue;
    const key = JSON.stringify([rest, operations]);
    const known = byRest.get(key)?.resources ?? [];
    const all = [...new Set([...known, ...resources])];
    // `*` stands for all resources, but not for their subresources.
    const kept = all.includes("*") ? all.filter((each) => each === "*" || each.includes("/")) : all;
    byRest.set(key, { ...rest, operations: operations ?? [], resources: kept });
  }
  return [...byRest.values()];
}

/** Conditions with names of their own. */
function numbered(tests: readonly Test[]): readonly Test[] {
  const taken = new Map<string, number>();
  return tests.map((test) => {
    const count = (taken.get(test.name) ?? 0) + 1;
    taken.set(test.name, count);
    return count === 1 ? test : { ...test, name: `${test.name}-${count}` };
  });
}

const parenthesized = ({ text: source }: Cel): Cel => primary(`(${source})`);

/** The Pod of an object: itself, or its template. */
function podOf(object: string, controllers: readonly string[], isOld = false): Cel {
  const kind = isOld ? "request.kind.kind" : `${object}.kind`;
  // The old object may be absent.
  const at = (path: string): string =>
    isOld ? `${object}${path.replaceAll(".", ".?")}.orValue({})` : `${object}${path}`;
  const isCron = controllers.includes("CronJob");
  const cron = isCron ? [at(".spec.jobTemplate.spec.template")] : [];
  const others = controllers.some((each) => each !== "CronJob") ? [at(".spec.template")] : [];
  const template = [...cron, ...others].join(" : ");
  const which = cron.length + others.length === 2 ? `${kind} == "CronJob" ? ${template}` : template;
  return primary(`${kind} == "Pod" ? ${object} : ${which}`);
}
