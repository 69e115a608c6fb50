/** An answer as text: the outcome, the reason, and the changes. */
import type { Config } from "../../config/index.js";
import { printable } from "../../data/printable.js";
import { changedObject, diffLines } from "../../kinds/explanation/index.js";
import { wouldDeny } from "../../policy/served/would-deny.js";
import { decisionLines } from "../certificate-request-lines.js";
import { indented } from "../explain/expression-lines.js";
import { diffText } from "../look/diff-text.js";
import type { Paint } from "../look/paint.js";
import { type Answered, foundLines, objectName, whyText } from "./answered.js";
import { memberLines } from "./members.js";
import { TONES, timeText, wordOf } from "./words.js";

/** Options of a summary. */
export interface Showing {
  readonly config: Config;
  readonly paint: Paint;
  /** Whether a policy was given as a file: then options replace the configuration. */
  readonly isDirect: (id: string) => boolean;
}

/** The summary of one answer, as lines. */
export function summaryLines(answered: Answered, { config, paint, isDirect }: Showing): readonly string[] {
  const { entry, question, verdict } = answered;
  const { response } = verdict;
  const word = wordOf(verdict);
  const about = objectName(question.review);
  const time = paint("quiet", timeText(verdict.milliseconds));
  const head = [
    paint(TONES[word], word),
    paint("strong", printable(entry.id)),
    ...(about === "" ? [] : [printable(about)]),
    time,
  ];
  const hidden = wouldDeny(verdict);
  const direct = isDirect(entry.id);
  const { status } = response;
  const why = whyText(answered);
  const facts = [
    ...(status?.code === undefined ? [] : [`code ${status.code}`]),
    ...(status?.reason === undefined || status.reason === "" ? [] : [`reason ${status.reason}`]),
  ];
  const causes = (status?.details?.causes ?? []).map(({ field, message }) =>
    [field ?? "", message ?? ""].filter((part) => part !== "").join(": "),
  );
  const body = [
    ...(why === "" ? [] : [printable(why)]),
    ...(facts.length === 0 ? [] : [paint("quiet", printable(facts.join(", ")))]),
    ...(hidden === undefined ? [] : [monitorLine(hidden, paint)]),
    ...section("causes", causes.map(printable)),
    ...section("warnings", (response.warnings ?? []).map(printable), (line) => paint("doubt", line)),
    ...section("found", foundLines(answered).map(printable), (line) => paint("doubt", line)),
    ...section("members", memberLines(config, verdict, paint)),
    ...section("decisions", decisionLines(verdict)),
    ...changeLines(answered, direct, paint),
  ];
  return [head.join("  "), ...indented(body)];
}

function monitorLine(message: string, paint: Paint): string {
  return paint(
    "doubt",
    printable(`monitor mode lets it pass; it would be denied${message === "" ? "" : `: ${message}`}`),
  );
}

function section(title: string, lines: readonly string[], shown = (line: string): string => line): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...indented(lines.map(shown))];
}

/** Lines with the policy's changes, and those that it may not make. */
function changeLines({ entry, question, verdict }: Answered, direct: boolean, paint: Paint): readonly string[] {
  const { outcome } = verdict;
  if ((outcome.verdict !== "allow" && outcome.verdict !== "deny") || outcome.mutation === undefined) return [];
  // A denial carries no change; a forbidden one is still shown.
  if (outcome.verdict === "deny" && entry.allowedToMutate) return [];
  const changed = changedObject(question.review, outcome);
  const lines = changed === undefined ? [] : diffText(diffLines(changed.before, changed.after), paint);
  const shown = changed !== undefined && lines.length === 0 ? ["nothing"] : lines;
  const forbidden = !entry.allowedToMutate && entry.mode !== "monitor";
  const remedy = direct
    ? "a server needs `allowedToMutate: true` in the policy's entry for this; here --allowed-to-mutate stands for it"
    : "the policy's entry needs `allowedToMutate: true` for this";
  return [...section("changes", shown), ...(forbidden ? [paint("doubt", remedy)] : [])];
}
