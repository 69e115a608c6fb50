/**
 * The explanation of an answer as text: its question, its outcome, and below that the expressions with their values, or a group's members. It shows
 * the content of requests, and is only for the user of the command.
 */
import { printable } from "../../data/printable.js";
import type { ExplainedAnswer, ExplainedPart } from "../../kinds/explanation/index.js";
import { expressionLines, indented, shortText, type WantedParts } from "./expression-lines.js";

/** The implementation name of a group. */
const GROUP = "group";

/** The explanation of one answer. */
export const explanationText = (answer: ExplainedAnswer): string => answerLines(answer).join("\n");

function answerLines(answer: ExplainedAnswer): readonly string[] {
  const { argument, implementation, outcome, parts, members, left } = answer;
  const name = printable(answer.name);
  if (outcome === "not evaluated") return [`${name}: not evaluated`];
  const label = argument === undefined ? name : `${name}(${shortText(argument)})`;
  const wanted: WantedParts = implementation === GROUP ? "all" : "of what is false";
  return [
    `${label} ${printable(`(${implementation}): ${outcomeText(answer)}`)}`,
    ...indented([
      ...parts.flatMap((part) => partLines(part, wanted)),
      ...members.flatMap(answerLines),
      ...(left === 0 ? [] : [`and ${left} more times that members were asked`]),
    ]),
  ];
}

/** The outcome in words, with the policy's message. */
export function outcomeText({ outcome, message }: Pick<ExplainedAnswer, "outcome" | "message">): string {
  const said = message === undefined ? "" : `: ${message}`;
  switch (outcome) {
    case "allow":
      return `allowed${said}`;
    case "deny":
      return `denied${said}`;
    case "error":
      return `failed${said}`;
    case "skip":
      return `does not apply${said}`;
    case "no answer":
      return "no answer in time";
    case "not evaluated":
      return outcome;
  }
}

function partLines({ title, found, expressions }: ExplainedPart, wanted: WantedParts): readonly string[] {
  const lines = expressions.flatMap((expression) => expressionLines(expression, wanted));
  if (title === "") return lines;
  return [printable(`${title}${found === undefined ? "" : `: ${found}`}`), ...indented(lines)];
}
