import type { ExplainedAnswer, ExplainedPart } from "../../../kinds/explanation/types.js";
import { h, sign } from "../dom/element.js";
import { duration, lookOf } from "../model/outcomes.js";
import { expressionView } from "./expression-view.js";

/** Members within members deeper than this are not drawn: groups of groups end long before. */
const DEEPEST = 12;

function partView(part: ExplainedPart, alone: boolean): HTMLElement {
  const named = part.title !== "" || part.found !== undefined;
  return h(
    "div",
    { class: "kind-part" },
    named &&
      h(
        "h4",
        {},
        part.title,
        part.found !== undefined && h("span", { class: "found" }, part.title === "" ? part.found : ` – ${part.found}`),
      ),
    ...part.expressions.map((expression) => expressionView(expression, alone)),
  );
}

/** The expressions of an answer. */
export function expressionsView(answer: ExplainedAnswer): readonly HTMLElement[] {
  const count = answer.parts.reduce((sum, { expressions }) => sum + expressions.length, 0);
  return answer.parts.map((part) => partView(part, count === 1));
}

function memberRow(member: ExplainedAnswer, depth: number): HTMLElement {
  const look = lookOf(member.outcome);
  const head = [
    sign(look.symbol, look.tone),
    h(
      "span",
      { class: "name" },
      member.name,
      member.argument !== undefined && h("code", { class: "argument" }, `(${member.argument})`),
    ),
    h("span", { class: `outcome ${look.tone}` }, look.word),
    h("span", { class: "time" }, member.milliseconds === undefined ? "" : duration(member.milliseconds)),
    member.message !== undefined && h("span", { class: "message" }, member.message),
  ];
  const inside = member.parts.some(({ expressions }) => expressions.length > 0) || member.members.length > 0;
  if (!inside || depth >= DEEPEST)
    return h("li", { class: `member ${look.tone}` }, h("div", { class: "member-head" }, ...head));
  return h(
    "li",
    { class: `member ${look.tone}` },
    h(
      "details",
      {},
      h("summary", { class: "member-head" }, ...head),
      h("div", { class: "inside" }, ...expressionsView(member), memberList(member, depth + 1)),
    ),
  );
}

/** The members of a group in order of definition, each with what it made of the request; those with more to tell unfold. */
export function memberList(answer: ExplainedAnswer, depth = 0): HTMLElement | undefined {
  if (answer.members.length === 0 && answer.left === 0) return undefined;
  return h(
    "ol",
    { class: "members" },
    ...answer.members.map((member) => memberRow(member, depth)),
    answer.left > 0 && h("li", { class: "quiet" }, `and ${answer.left} more times that members were asked`),
  );
}
