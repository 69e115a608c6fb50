import type { ExplainedAnswer, ExplainedValue } from "../../../kinds/explanation/types.js";
import type { GroupNode, PageGroup } from "../../api.js";
import { expressionTree } from "../../expression-tree.js";
import { duration, type Look, lookOf, lookOfValue } from "./outcomes.js";

/** The result of a part of a group's expression: its look, and the words under its name. */
export interface NodeOutcome extends Look {
  readonly detail: string;
}

/** The evaluated expression of a group, if its answer has one. */
function evaluated(answer: ExplainedAnswer): { readonly source: string; readonly value: ExplainedValue } | undefined {
  for (const { expressions } of answer.parts) {
    for (const { source, evaluations } of expressions) {
      if (evaluations[0] !== undefined) return { source, value: evaluations[0] };
    }
  }
  return undefined;
}

function valueAt(value: ExplainedValue, node: GroupNode): ExplainedValue | undefined {
  if (value.from === node.from && value.to === node.to) return value;
  for (const part of value.parts) {
    const found = valueAt(part, node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The order of outcomes where a member was asked several times: the one that decided against it comes first. */
const GRAVEST: readonly ExplainedAnswer["outcome"][] = ["error", "no answer", "deny", "skip", "allow", "not evaluated"];

function ofMember(asked: readonly ExplainedAnswer[]): NodeOutcome | undefined {
  const [worst] = asked.toSorted((a, b) => GRAVEST.indexOf(a.outcome) - GRAVEST.indexOf(b.outcome));
  if (worst === undefined) return undefined;
  const look = lookOf(worst.outcome);
  if (asked.length > 1) {
    const same = asked.filter(({ outcome }) => outcome === worst.outcome).length;
    return { ...look, detail: `${look.word}, ${same} of ${asked.length}` };
  }
  return {
    ...look,
    detail: worst.milliseconds === undefined ? look.word : `${look.word} · ${duration(worst.milliseconds)}`,
  };
}

/** Whether a part without a value here has one at another place of the expression. */
function standsElsewhere(node: GroupNode, source: string, value: ExplainedValue): boolean {
  const { from = 0, to = 0 } = value;
  const same = source.slice(from, to) === source.slice(node.from, node.to) && value.value !== undefined;
  return same || value.parts.some((part) => standsElsewhere(node, source, part));
}

/** The result of a part: of a member its outcome, of any other its value. A member behind `||` or `&&` may not have been needed in this place. */
export function outcomeOf(node: GroupNode, answer: ExplainedAnswer): NodeOutcome | undefined {
  const { source = "", value: root } = evaluated(answer) ?? {};
  const value = root === undefined ? undefined : valueAt(root, node);
  if (node.kind === "member") {
    const unasked =
      value === undefined
        ? root !== undefined && standsElsewhere(node, source, root)
        : value.value === undefined && !value.failed;
    const look = lookOf("not evaluated");
    if (unasked) return { ...look, detail: look.word };
    return ofMember(answer.members.filter(({ name }) => name === node.name));
  }
  if (root === undefined) return undefined;
  const look = lookOfValue(value?.value, value?.failed ?? false);
  return { ...look, detail: look.word };
}

/** A group to draw from its answer alone, for a draft. Undefined where its expression was not evaluated. */
export function groupOfAnswer(answer: ExplainedAnswer): PageGroup | undefined {
  const found = answer.members.length === 0 ? undefined : evaluated(answer);
  if (found === undefined) return undefined;
  const names = [...new Set(answer.members.map(({ name }) => name))];
  const tree = expressionTree(found.source, names);
  return { expression: found.source, tree, members: names.map((name) => ({ name, policy: "" })) };
}
