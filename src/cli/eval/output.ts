/** Outputs of answers: as text, or for programs. */

import { type CommandIo, say } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { printYaml } from "../../data/print-yaml.js";
import { printable } from "../../data/printable.js";
import { wouldDeny } from "../../policy/served/would-deny.js";
import { decisionLines } from "../certificate-request-lines.js";
import { explanationText } from "../explain/explanation.js";
import { indented } from "../explain/expression-lines.js";
import { type Answered, foundLines, objectName, responseOf, whyText } from "./answered.js";
import { type Showing, summaryLines } from "./summary.js";
import { TONES, WORDS, type Word, wordOf } from "./words.js";

/** Formats of `-o`. */
export const FORMATS = ["text", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

/** Receives answers as they come. */
export interface Output {
  add(answered: Answered): void;
  /** Ends the output after the last answer. */
  end(): void;
}

/** Options of the output. */
export interface OutputOptions {
  readonly format: Format;
  /** Whether the format was chosen: otherwise the explanation goes to standard error, beside unchanged JSON. */
  readonly chosen: boolean;
  /** Whether there is certainly one answer. */
  readonly single: boolean;
  readonly showing: Showing;
  /** The longest id: the text after it is aligned. */
  readonly idWidth: number;
}

/** The output for these options. */
export function createOutput(options: OutputOptions, io: CommandIo): Output {
  if (options.format === "text") return options.single ? new Summary(options, io) : new Lines(options, io);
  return options.single ? new OneDocument(options, io) : new Items(options, io);
}

const tellDetails = ({ details }: Answered, { stderr }: CommandIo): void => {
  for (const detail of details) say(stderr, `detail: ${printable(detail)}`);
};

class Summary implements Output {
  constructor(
    readonly options: OutputOptions,
    readonly io: CommandIo,
  ) {}

  add(answered: Answered): void {
    const { explained } = answered;
    const explanation = explained === undefined ? [] : ["", explanationText(explained)];
    const lines = [...summaryLines(answered, this.options.showing), ...explanation];
    this.io.stdout.write(`${lines.join("\n")}\n`);
    tellDetails(answered, this.io);
  }

  end(): void {}
}

const COUNTED: Readonly<Record<Word, string>> = {
  ALLOWED: "allowed",
  DENIED: "denied",
  "DOES NOT APPLY": "not applicable",
  ERROR: "failed",
};

/** A line for each answer, and one that counts them. */
class Lines implements Output {
  readonly #counts = new Map<Word, number>();

  constructor(
    readonly options: OutputOptions,
    readonly io: CommandIo,
  ) {}

  add(answered: Answered): void {
    const { entry, question, verdict, explained } = answered;
    const { paint } = this.options.showing;
    const word = wordOf(verdict);
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    const hidden = wouldDeny(verdict);
    const said = whyText(answered) || (verdict.response.patch === undefined ? "" : "changes the object");
    const [first = "", ...others] = foundLines(answered);
    const found = others.length > 0 ? `${first} (and ${others.length} more)` : first;
    const why = hidden === undefined ? said || found : `monitor mode lets it pass; it would be denied: ${hidden}`;
    const cells = [
      paint(TONES[word], word) + " ".repeat("DOES NOT APPLY".length - word.length),
      printable(entry.id.padEnd(this.options.idWidth)),
      printable(`${question.file}: ${objectName(question.review)}`),
      printable(why),
    ];
    const below = explained === undefined ? [] : indented(explanationText(explained).split("\n"));
    this.io.stdout.write(`${[cells.join("  ").trimEnd(), ...below].join("\n")}\n`);
    tellDetails(answered, this.io);
  }

  end(): void {
    const { paint } = this.options.showing;
    const total = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    const parts = WORDS.flatMap((word) => {
      const count = this.#counts.get(word) ?? 0;
      return count === 0 ? [] : [paint(TONES[word], `${count} ${COUNTED[word]}`)];
    });
    this.io.stdout.write(`${counted(total, "answer")}: ${parts.join(", ")}\n`);
  }
}

/** The answer as a server sends it; explained if that was requested in this format. */
class OneDocument implements Output {
  constructor(
    readonly options: OutputOptions,
    readonly io: CommandIo,
  ) {}

  add(answered: Answered): void {
    const { format, chosen } = this.options;
    const { explained, verdict } = answered;
    const inside = chosen && explained !== undefined;
    const whole = { ...responseOf(answered), ...(inside && { explanation: explained }) };
    this.io.stdout.write(format === "json" ? `${JSON.stringify(whole, undefined, 2)}\n` : printYaml(whole));
    for (const line of decisionLines(verdict)) say(this.io.stderr, line);
    tellDetails(answered, this.io);
    if (explained !== undefined && !inside) say(this.io.stderr, explanationText(explained));
  }

  end(): void {}
}

/** A list with an item for each answer, written as they come. */
class Items implements Output {
  #count = 0;

  constructor(
    readonly options: OutputOptions,
    readonly io: CommandIo,
  ) {}

  add(answered: Answered): void {
    const item = itemOf(answered);
    if (this.options.format === "yaml") this.io.stdout.write(printYaml([item]));
    else {
      const text = JSON.stringify(item, undefined, 2).replaceAll("\n", "\n  ");
      this.io.stdout.write(`${this.#count === 0 ? "[" : ","}\n  ${text}`);
    }
    this.#count += 1;
    tellDetails(answered, this.io);
  }

  end(): void {
    if (this.options.format === "json") this.io.stdout.write(this.#count === 0 ? "[]\n" : "\n]\n");
    else if (this.#count === 0) this.io.stdout.write("[]\n");
  }
}

function itemOf(answered: Answered): object {
  const { entry, question, verdict, explained } = answered;
  const { review, file, index } = question;
  const hidden = wouldDeny(verdict);
  return {
    policy: entry.id,
    file,
    index,
    ...(review.kind === "admission" && { object: identityOf(review.request) }),
    outcome: verdict.outcome.verdict,
    ...(verdict.outcome.verdict === "skip" && { reason: verdict.outcome.reason }),
    ...(hidden !== undefined && { wouldDeny: hidden }),
    ...(verdict.outcome.found && { found: verdict.outcome.found }),
    milliseconds: Math.round(verdict.milliseconds * 1000) / 1000,
    ...responseOf(answered),
    ...(explained !== undefined && { explanation: explained }),
  };
}

function identityOf({ kind, namespace, name }: { kind: object; namespace?: string; name?: string }): object {
  return { ...kind, ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}
