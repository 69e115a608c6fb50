/** `bench`: measures time and cost of a policy. */

import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import { printable } from "../../data/printable.js";
import { lineOf } from "../../kinds/explanation/index.js";
import { type Asking, Explainer } from "../../kinds/shared/index.js";
import { definedKinds } from "../../loader/defined-kinds.js";
import { createPolicySource, problemLines } from "../../loader/policy-source.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import type { Review } from "../../policy/index.js";
import { createEvaluator } from "../../policy/served/evaluator.js";
import { type EntryOptions, withoutMadePlace } from "../eval/direct-entry.js";
import { type QuestionOptions, questionsOf } from "../eval/question.js";
import { type Subject, subjectOf } from "../eval/subject.js";
import { timeText } from "../eval/words.js";
import { indented } from "../explain/expression-lines.js";
import { type Paint, paintFor } from "../look/paint.js";
import { expressionCosts } from "./costs.js";
import { type Figures, figuresOf } from "./figures.js";
import { measure } from "./measure.js";
import { MemberTimes } from "./member-times.js";

/** Most characters of a shown expression: its place identifies it. */
const MAX_SOURCE = 60;

/** The lines of a report. */
function reportLines(figures: Figures, paint: Paint): readonly string[] {
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

/** Options of the command line. */
export interface BenchOptions extends QuestionOptions, EntryOptions {
  readonly seconds: number;
  readonly concurrency: number;
  readonly output: string;
}

/** Most objects that are evaluated in turn: more are not needed, and all are kept. */
const MAX_OBJECTS = 1_000;

/**
 * `bench <policy>`: measures one policy.
 * @returns 0; 2 when it could not be loaded or its answers fail; 3 when it applies to no object
 * @throws UsageError for invalid questions
 */
export async function benchCommand(
  asked: string | undefined,
  options: BenchOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  if (asked === undefined) throw new UsageError("which policy? bench <policy>, or a file such as ./policy.wasm");
  if (options.output !== "text" && options.output !== "json")
    throw new UsageError(`unknown format '${options.output}', expected text or json`);
  const subject = subjectOf({ ...options, asked: [asked], file: policiesFile(settings) });
  const reviews = await reviewsOf(options, subject, io);
  if (reviews.length === 0) return nothingJudged("no file has an object to ask about", io);
  const now = (): number => performance.now();
  const source = createPolicySource(settings, { read: () => subject.config });
  try {
    const started = now();
    const loaded = await source.load();
    const load = now() - started;
    for (const line of problemLines(loaded).map(withoutMadePlace)) say(io.stderr, line);
    const entry = loaded.policies.entries.get(subject.ids[0] ?? "");
    if (loaded.fatal !== undefined || entry === undefined || entry.policy.kind === "unavailable") return EXIT.NOT_ASKED;
    const evaluator = createEvaluator(loaded.policies, { policyTimeout: source.policyTimeout });
    const members = new MemberTimes();
    const { concurrency, seconds } = options;
    const measured = await measure({
      evaluator,
      entry,
      reviews,
      milliseconds: seconds * 1000,
      concurrency,
      members,
      now,
    });
    const costs = await costsOf(subject, entry.id, reviews, settings);
    const circumstances = { load, objects: reviews.length, concurrency };
    const figures = figuresOf(entry, measured, members.all(membersOf(subject, entry.id)), costs, circumstances);
    const text =
      options.output === "json"
        ? JSON.stringify(figures, undefined, 2)
        : reportLines(figures, paintFor(io.stdout, io.env)).join("\n");
    io.stdout.write(`${text}\n`);
    if (figures.failed > 0) return EXIT.NOT_ASKED;
    return measured.judged ? EXIT.FINE : nothingJudged("the policy applies to no object", io);
  } finally {
    source.close();
  }
}

/** The members of a group, by their names in observations. */
function membersOf({ config }: Subject, id: string): readonly string[] {
  const entry = config.ok ? config.config.entries.find((each) => each.id === id) : undefined;
  return entry?.kind === "group" ? entry.members.map(({ name }) => `${id}/${name}`) : [];
}

async function reviewsOf(options: QuestionOptions, { config }: Subject, io: CommandIo): Promise<readonly Review[]> {
  const find = definedKinds(() => (config.ok ? config.config : undefined));
  const { questions } = await questionsOf(options, io, find);
  const reviews: Review[] = [];
  for await (const { review } of questions) {
    if (reviews.length === MAX_OBJECTS) {
      say(io.stderr, `warning: the first ${MAX_OBJECTS} objects are asked about, and no more`);
      break;
    }
    reviews.push(review);
  }
  return reviews;
}

/** Costs of one evaluation of each object, in a second set of the same policies: a watched one is slower. */
async function costsOf(
  { config }: Subject,
  id: string,
  reviews: readonly Review[],
  settings: LoaderSettings,
): Promise<ReturnType<typeof expressionCosts>> {
  const explainer = new Explainer();
  const source = createPolicySource(settings, { watcher: explainer, read: () => config });
  try {
    const { policies } = await source.load();
    const entry = policies.entries.get(id);
    if (entry === undefined) return [];
    const evaluator = createEvaluator(policies, { policyTimeout: source.policyTimeout });
    const [review] = reviews;
    if (review === undefined) return [];
    const askings: Asking[] = [];
    const policy = explainer.explained(entry.policy, (asking) => askings.push(asking));
    await evaluator.evaluate(
      { ...entry, policy },
      { review, origin: review.kind === "raw" ? "validate_raw" : "validate" },
    );
    return askings.flatMap((asking) => expressionCosts(asking));
  } finally {
    source.close();
  }
}
