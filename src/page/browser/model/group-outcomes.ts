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

/** A member that decided a group's answer, or another part of its expression. */
export interface Cause extends Look {
  readonly name: string;
  readonly message: string;
}

/** The parts that made an expression's value what it is: of a conditional those of its branch, of `&&` and `||` the parts with the same value. */
function decisive(node: GroupNode, source: string, root: ExplainedValue): readonly GroupNode[] {
  const [first, then, otherwise] = node.parts;
  if (first === undefined) return [node];
  const goOn = (part: GroupNode) => decisive(part, source, root);
  if (node.kind === "not") return goOn(first);
  const came = valueAt(root, node.kind === "if" ? first : node);
  if (node.kind === "if") {
    const branch = came?.value === "true" ? then : came?.value === "false" ? otherwise : first;
    return goOn(branch === undefined || /^(?:true|false)$/.test(source.slice(branch.from, branch.to)) ? first : branch);
  }
  return node.parts.flatMap((part) => {
    const own = valueAt(root, part);
    return own !== undefined && own.value === came?.value && own.failed === came?.failed ? goOn(part) : [];
  });
}

/** The causes of a group's answer, those of members that are groups in their place. */
export function causesOf(answer: ExplainedAnswer): readonly Cause[] {
  const { source, value: root } = evaluated(answer) ?? {};
  const tree = groupOfAnswer(answer)?.tree;
  if (source === undefined || root === undefined || tree === undefined) return [];
  const found = decisive(tree, source, root).flatMap((node): readonly Cause[] => {
    const text = source.slice(node.from, node.to);
    const asked = answer.members.filter(
      ({ name, outcome }) => outcome !== "not evaluated" && new RegExp(`\\b${name}\\s*\\(`).test(text),
    );
    const grave = asked.filter(({ outcome }) => outcome !== "allow" && outcome !== "skip");
    const members = grave.length > 0 || node.kind !== "member" ? grave : asked;
    if (members.length === 0) {
      const { value, failed = false } = valueAt(root, node) ?? {};
      return [{ ...lookOfValue(value, failed), name: text, message: value ?? "not evaluated" }];
    }
    return members.flatMap((member) => {
      const inner = causesOf(member).map((cause) => ({ ...cause, name: `${member.name} › ${cause.name}` }));
      const look = lookOf(member.outcome);
      return inner.length > 0 ? inner : [{ ...look, name: member.name, message: member.message ?? look.word }];
    });
  });
  return [...new Map(found.map((cause) => [`${cause.name} ${cause.message}`, cause])).values()];
}

/** Warnings of a group: those of each member, without what its row says anyway, and those of no member. */
export function warningsByMember(warnings: readonly string[], members: readonly ExplainedAnswer[]) {
  const left: string[] = [];
  const own = new Map<string, string[]>();
  const said = /^(\w+)(?:: (.*)| (?:was (?:accepted|rejected|not evaluated)|failed|does not apply)(?:$|:.*))/s;
  for (const warning of warnings) {
    const [, name = "", text] = said.exec(warning) ?? [];
    if (!members.some((member) => member.name === name)) left.push(warning);
    else if (text !== undefined) own.set(name, [...(own.get(name) ?? []), text]);
  }
  return { own, left };
}

/** A group to draw from its answer alone, for a draft. Undefined where its expression was not evaluated. */
export function groupOfAnswer(answer: ExplainedAnswer): PageGroup | undefined {
  const found = answer.members.length === 0 ? undefined : evaluated(answer);
  if (found === undefined) return undefined;
  const names = [...new Set(answer.members.map(({ name }) => name))];
  const tree = expressionTree(found.source, names);
  return { expression: found.source, tree, members: names.map((name) => ({ name, policy: "" })) };
}
