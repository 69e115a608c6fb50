import type { ExplainedAnswer, ExplainedValue } from "../../../explanation/types.js";
import type { GroupNode, PageGroup } from "../../api.js";
import { duration, type Look, lookOf, lookOfValue } from "./outcomes.js";

/** What became of a part of a group's expression: its look, and the words under its name. */
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

/** How outcomes are told apart where a member was asked several times: what decided against it comes first. */
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

/** What became of a part: of a member its outcome, of anything else its value. A member behind `||` or `&&` may not have been needed in this place. */
export function outcomeOf(node: GroupNode, answer: ExplainedAnswer): NodeOutcome | undefined {
  const root = evaluated(answer)?.value;
  const value = root === undefined ? undefined : valueAt(root, node);
  if (node.kind === "member") {
    const unasked = value !== undefined && value.value === undefined && !value.failed;
    const look = lookOf("not evaluated");
    if (unasked) return { ...look, detail: look.word };
    return ofMember(answer.members.filter(({ name }) => name === node.name));
  }
  if (root === undefined) return undefined;
  const look = lookOfValue(value?.value, value?.failed ?? false);
  return { ...look, detail: look.word };
}

/** What stands between two parts, without parentheses and space. */
function between(source: string, from: number, to: number): string {
  return source.slice(from, to).replace(/[()\s]/g, "");
}

function nodeOf(source: string, value: ExplainedValue, members: ReadonlySet<string>): GroupNode | undefined {
  const { from, to } = value;
  if (from === undefined || to === undefined) return undefined;
  const parts = value.parts.map((part) => nodeOf(source, part, members));
  const known = parts.filter((part) => part !== undefined);
  const [first, second, third] = known;
  const cel: GroupNode = { kind: "cel", from, to, parts: [] };
  const call = /^(\w+)\s*\([^]*\)$/.exec(source.slice(from, to));
  if (call?.[1] !== undefined && members.has(call[1])) return { kind: "member", from, to, name: call[1], parts: [] };
  if (first === undefined || known.length !== parts.length) return cel;
  if (known.length === 1 && between(source, from, first.from) === "!") return { kind: "not", from, to, parts: known };
  const operator = second === undefined ? "" : between(source, first.to, second.from);
  if (known.length === 2 && operator === "&&") return { kind: "and", from, to, parts: known };
  if (known.length === 2 && operator === "||") return { kind: "or", from, to, parts: known };
  const otherwise = second === undefined || third === undefined ? "" : between(source, second.to, third.from);
  if (known.length === 3 && operator === "?" && otherwise === ":") return { kind: "if", from, to, parts: known };
  return cel;
}

/** A group to draw from its answer alone: of a draft, the server tells no tree. Undefined where its expression was not evaluated. */
export function groupOfAnswer(answer: ExplainedAnswer): PageGroup | undefined {
  const found = answer.members.length === 0 ? undefined : evaluated(answer);
  if (found === undefined) return undefined;
  const names = [...new Set(answer.members.map(({ name }) => name))];
  const tree = nodeOf(found.source, found.value, new Set(names));
  if (tree === undefined) return undefined;
  return { expression: found.source, tree, members: names.map((name) => ({ name, policy: "" })) };
}
