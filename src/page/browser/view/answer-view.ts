import type { DiffLine, ExplainedAnswer, ExplainedPart } from "../../../kinds/explanation/types.js";
import type { EvaluateAnswer } from "../../api.js";
import { type Child, h, put, sign } from "../dom/element.js";
import { type DiffRow, diffCounts, diffRows } from "../model/diff-rows.js";
import { causesOf, groupOfAnswer, warningsByMember } from "../model/group-outcomes.js";
import { duration, type Look, lookOf, verdictOf } from "../model/outcomes.js";
import { codeOf, messageOf } from "../model/response.js";
import { expressionView } from "./expression-view.js";
import { groupDrawing, type Linked } from "./group-drawing.js";
import { notice } from "./policy-details.js";

/** Deepest level of members that is drawn: groups of groups end long before. */
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
function expressionsView(answer: ExplainedAnswer): readonly HTMLElement[] {
  const count = answer.parts.reduce((sum, { expressions }) => sum + expressions.length, 0);
  return answer.parts.map((part) => partView(part, count === 1));
}

const warningView = (text: string) => notice("warn", "△", "Warning:", text);

function memberRow(member: ExplainedAnswer, depth: number, warnings: readonly string[]): HTMLElement {
  const { left } = warningsByMember(warnings, member.members);
  const count = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  const look = lookOf(member.outcome);
  const head = [
    sign(look.symbol, look.tone),
    h(
      "span",
      { class: "name" },
      member.name,
      member.argument !== undefined && h("code", { class: "argument" }, `(${member.argument})`),
      warnings.length > 0 && h("span", { class: "warn count" }, ` △ ${count}`),
    ),
    h("span", { class: `outcome ${look.tone}` }, look.word),
    h("span", { class: "time" }, member.milliseconds === undefined ? "" : duration(member.milliseconds)),
    member.message !== undefined && h("span", { class: "message" }, member.message),
  ];
  const inside =
    warnings.length + member.members.length > 0 || member.parts.some(({ expressions }) => expressions.length > 0);
  if (!inside || depth >= DEEPEST)
    return h("li", { class: `member ${look.tone}` }, h("div", { class: "member-head" }, ...head));
  return h(
    "li",
    { class: `member ${look.tone}` },
    h(
      "details",
      {},
      h("summary", { class: "member-head" }, ...head),
      h(
        "div",
        { class: "inside" },
        ...left.map(warningView),
        ...expressionsView(member),
        memberList(member, warnings, depth + 1),
      ),
    ),
  );
}

/** The members of a group in order of definition, each with its answer; those with details unfold. */
function memberList(answer: ExplainedAnswer, warnings: readonly string[], depth = 0): HTMLElement | undefined {
  if (answer.members.length === 0 && answer.left === 0) return undefined;
  const { own } = warningsByMember(warnings, answer.members);
  const first = (member: ExplainedAnswer) => answer.members.find(({ name }) => name === member.name) === member;
  return h(
    "ol",
    { class: "members" },
    ...answer.members.map((member) => memberRow(member, depth, (first(member) && own.get(member.name)) || [])),
    answer.left > 0 && h("li", { class: "quiet" }, `and ${answer.left} more times that members were asked`),
  );
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const SPOKEN = { same: "", added: "added: ", removed: "removed: " } as const;

function lineOf({ kind, text }: DiffLine): HTMLElement {
  return h(
    "div",
    { class: `diff-line ${kind}` },
    h("span", { class: "diff-sign", "aria-hidden": "true" }, SIGNS[kind]),
    kind !== "same" && h("span", { class: "hidden" }, SPOKEN[kind]),
    text,
  );
}

function rowOf(row: DiffRow): HTMLElement {
  if (row.kind !== "folded") return lineOf(row);
  const { lines } = row;
  const button = h(
    "button",
    { type: "button", class: "unfold" },
    lines.length === 1 ? "1 line unchanged" : `${lines.length} lines unchanged`,
  );
  const element = h("div", { class: "diff-line folded" }, button);
  button.addEventListener("click", () => element.replaceWith(...lines.map(lineOf)));
  return element;
}

/** The changes of an object by a patch, line by line. */
function diffView(lines: readonly DiffLine[]): HTMLElement {
  const { added, removed } = diffCounts(lines);
  return h(
    "section",
    { class: "diff" },
    h("h3", {}, "Patch ", h("span", { class: "quiet" }, `+${added} −${removed}`)),
    h(
      "div",
      { class: "diff-lines", tabindex: "0", role: "region", "aria-label": "The object before and after the patch" },
      ...diffRows(lines).map(rowOf),
    ),
  );
}

/** The place of answers. */
export interface AnswerView {
  readonly element: HTMLElement;
  readonly show: (answer: NonNullable<EvaluateAnswer["answer"]>, draft: boolean) => void;
  /** Shows only words: before the first question, or when there is no answer. */
  readonly say: (tone: "quiet" | "bad", ...words: Child[]) => void;
  readonly setBusy: (busy: boolean) => void;
  /** Marks the answer as one to a text that has changed since. */
  readonly setStale: (stale: boolean) => void;
}

type Answer = NonNullable<EvaluateAnswer["answer"]>;

/** Most causes that stand in the headline; the members' list has all. */
const MOST_CAUSES = 6;

/** The causes of a denial or failure of a group; empty for any other answer, and for one that monitor mode lets through. */
const causes = ({ explained, allowed }: Answer) =>
  explained.outcome === "error" || explained.outcome === "no answer" || (explained.outcome === "deny" && !allowed)
    ? causesOf(explained)
    : [];

function headline(answer: Answer, look: Look): HTMLElement {
  const { explained, response, allowed } = answer;
  const code = codeOf(response);
  const message = messageOf(response) ?? explained.message;
  const found = causes(answer);
  const facts = [explained.name, code === undefined ? undefined : `code ${code}`, duration(answer.milliseconds)];
  return h(
    "div",
    { class: `verdict ${look.tone}` },
    sign(look.symbol, look.tone),
    h(
      "div",
      {},
      h("p", { class: "word" }, look.word),
      h("p", { class: "facts-line" }, facts.filter(Boolean).join(" · ")),
    ),
    found.length > 0 &&
      h(
        "ul",
        { class: "message" },
        ...found
          .slice(0, MOST_CAUSES)
          .map(({ symbol, tone, name, message: why }) =>
            h("li", {}, sign(symbol, tone), " ", h("strong", {}, `${name}:`), ` ${why}`),
          ),
        found.length > MOST_CAUSES && h("li", {}, `and ${found.length - MOST_CAUSES} more`),
      ),
    message !== undefined &&
      h("p", { class: found.length > 0 ? "note" : "message" }, found.length > 0 && "The client reads: ", message),
    explained.outcome === "skip" &&
      allowed &&
      h("p", { class: "note" }, "The request is let through: the policy has nothing to say about it."),
  );
}

function foldedJson(title: string, value: unknown): HTMLElement {
  const text = JSON.stringify(value, null, 2) ?? "";
  return h("details", { class: "fold" }, h("summary", {}, title), h("pre", { class: "source", tabindex: "0" }, text));
}

function contents(answer: Answer, draft: boolean, linked: Linked): Child[] {
  const { explained, warnings, wouldDeny, diff, response } = answer;
  const look = verdictOf(answer.allowed, explained.outcome);
  const group = draft ? groupOfAnswer(explained) : undefined;
  const members = memberList(explained, warnings);
  const { left } = warningsByMember(warnings, explained.members);
  // One part without expressions repeats the headline.
  const telling = explained.parts.length > 1 || explained.parts.some((part) => part.expressions.length > 0);
  const expressions = telling ? expressionsView(explained) : [];
  const monitor = lookOf("deny");
  return [
    headline(answer, look),
    wouldDeny !== undefined &&
      h(
        "div",
        { class: "notice quiet" },
        sign(monitor.symbol, monitor.tone),
        h("p", {}, h("strong", {}, "Hidden by monitor mode, would be denied:"), " ", wouldDeny),
      ),
    ...left.map(warningView),
    group !== undefined && groupDrawing(group, linked, explained),
    members !== undefined && h("section", {}, h("h3", {}, "Members"), members),
    diff !== undefined && diffView(diff),
    expressions.length > 0 &&
      h(
        "section",
        { class: "expressions" },
        h("h3", {}, explained.members.length > 0 ? "Expression" : "Expressions"),
        ...expressions,
      ),
    foldedJson("Response as JSON", response),
  ];
}

/** Makes an empty place. */
export function answerView(linked: Linked): AnswerView {
  const spoken = h("p", { class: "hidden", role: "status", "aria-live": "polite" });
  const body = h("div", { class: "answer-body" });
  const stale = h("p", { class: "stale" }, "This answers an earlier text. Ctrl+Enter asks again.");
  stale.hidden = true;
  const element = h("section", { class: "answer", "aria-label": "Answer" }, spoken, stale, body);
  const setStale = (on: boolean) => {
    stale.hidden = !on || body.querySelector(".verdict") === null;
  };
  return {
    element,
    setStale,
    show(answer, draft) {
      const { word } = verdictOf(answer.allowed, answer.explained.outcome);
      const [cause] = causes(answer);
      put(
        spoken,
        `${word}. ${cause === undefined ? "" : `${cause.name} ${cause.message}. `}${messageOf(answer.response) ?? answer.explained.message ?? ""}`,
      );
      put(body, ...contents(answer, draft, linked));
      setStale(false);
      element.scrollTop = 0;
    },
    say(tone, ...words) {
      const text = h("p", { class: `said ${tone}` }, tone === "bad" && sign("!", "failed"), ...words);
      put(spoken, tone === "bad" ? text.textContent : "");
      put(body, text);
      setStale(false);
    },
    setBusy(busy) {
      element.setAttribute("aria-busy", String(busy));
      element.classList.toggle("busy", busy);
    },
  };
}
