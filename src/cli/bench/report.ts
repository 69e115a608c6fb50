/** Figures as text. */
import { printable } from "../../data/printable.js";
import { lineOf } from "../../kinds/explanation/index.js";
import { timeText } from "../eval/words.js";
import { indented } from "../explain/indented.js";
import type { Paint } from "../look/paint.js";
import type { Figures } from "./figures.js";

/** Most characters of a shown expression: its place identifies it. */
const MAX_SOURCE = 60;

/** The lines of a report. */
export function reportLines(figures: Figures, paint: Paint): readonly string[] {
  const { policy, implementation, measures, answer, message, answers, failed, seconds, start } = figures;
  const { median, p95, p99, most } = figures.milliseconds;
  const about = figures.objects === 1 ? "one object" : `${figures.objects} objects in turns`;
  return [
    `${paint("strong", printable(policy))} (${printable(implementation)}), about ${about}: ${answer}${message === undefined ? "" : `: ${lineOf(message)}`}`,
    ...indented([
      paint("quiet", measures),
      ...(failed === 0
        ? []
        : [paint("bad", `${failed} of ${answers} answers failed: these are the times of failing, not of deciding`)]),
      ...table(
        [
          ["median", "95 %", "99 %", "most", "per second", "answers", "seconds"],
          [
            ...[median, p95, p99, most].map(timeText),
            count(figures.answersPerSecond),
            count(answers),
            seconds.toFixed(1),
          ],
        ],
        paint,
      ),
      `start: loaded in ${timeText(start.load)}, first answer in ${timeText(start.firstAnswer)}${startText(figures)}`,
      ...memberLines(figures, paint),
      ...costLines(figures, paint),
    ]),
  ];
}

function startText({ start: { kind, because } }: Figures): string {
  if (kind === undefined) return "";
  return printable(`, instances begin ${kind}${because === undefined ? "" : `: ${because}`}`);
}

function memberLines({ members }: Figures, paint: Paint): readonly string[] {
  if (members.length === 0) return [];
  const rows = members.map(({ policy, asked, mean, share }) => [
    printable(policy),
    `${asked.toFixed(2)} times`,
    asked === 0 ? "" : timeText(mean),
    `${(share * 100).toFixed(0)} %`,
  ]);
  return ["members:", ...indented(table([["member", "per answer", "each time", "share"], ...rows], paint))];
}

function costLines({ expressions, cost }: Figures, paint: Paint): readonly string[] {
  if (expressions.length === 0) return [];
  const rows = expressions.map(({ policy, path, name, source, cost: units, limit }) => [
    count(units),
    limit === undefined ? "" : shareText(units / limit),
    printable(`${policy}: ${path}${name === undefined ? "" : ` (${name})`}`),
    lineOf(source.trim().slice(0, MAX_SOURCE)),
  ]);
  return [
    `cost: ${count(cost)} units of Kubernetes' cost model, of all expressions of one answer`,
    ...indented(table([["units", "of limit", "expression", ""], ...rows], paint)),
  ];
}

/** A share as text: small for most expressions, where zeros would say nothing. */
function shareText(share: number): string {
  const percent = share * 100;
  if (percent < 0.01) return percent === 0 ? "0 %" : "< 0.01 %";
  return `${percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

const count = (value: number): string => value.toLocaleString("en-US");

/** Lines with aligned columns, the first row in another tone. */
function table(rows: readonly (readonly string[])[], paint: Paint): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row, index) => {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
    return index === 0 ? paint("quiet", line) : line;
  });
}
