/** What Go's `time.Parse` says of a text that is to be a time by its RFC 3339 layout. */

const LAYOUT = "2006-01-02T15:04:05Z07:00";

/** What the text has at some place: the rest, and the number that was read; or why the range of it is wrong. */
type Step = { readonly rest: string; readonly range?: string } | undefined;

/** One part of the layout: what stands before it, how errors call it, and how it is read; `undefined` where it is not there. */
interface Part {
  readonly before: string;
  readonly name: string;
  readonly read: (rest: string) => Step;
}

/** A number of two digits (of one, where that is let pass) below `end` and not below `first`. */
const number =
  (what: string, first: number, end: number, oneDigit = false): Part["read"] =>
  (rest) => {
    const digits = (oneDigit ? /^\d\d?/ : /^\d\d/).exec(rest)?.[0];
    if (digits === undefined) return undefined;
    const value = Number(digits);
    return { rest: rest.slice(digits.length), ...((value < first || value >= end) && { range: what }) };
  };

const readSecond = (rest: string): Step => {
  const step = number("second", 0, 60)(rest);
  if (step === undefined || step.range !== undefined) return step;
  // A fraction may follow, which the layout does not show.
  return { rest: step.rest.replace(/^[.,]\d+/, "") };
};

const readYear = (rest: string): Step => (/^\d{4}/.test(rest) ? { rest: rest.slice(4) } : undefined);

/** Offsets of 24 hours and 60 minutes are let pass, as some people write them. A range is told before a wrong sign. */
const readZone = (rest: string): Step => {
  if (rest.startsWith("Z")) return { rest: rest.slice(1) };
  const [, sign = "", hour = "", minute = ""] = /^(.)(\d\d):(\d\d)/.exec(rest) ?? [];
  if (Number(minute) > 60) return { rest, range: "time zone offset minute" };
  if (Number(hour) > 24) return { rest, range: "time zone offset hour" };
  return sign === "+" || sign === "-" ? { rest: rest.slice(6) } : undefined;
};

const PARTS: readonly Part[] = [
  { before: "", name: "2006", read: readYear },
  { before: "-", name: "01", read: number("month", 1, 13) },
  // Whether the month has the day is known when all is read.
  { before: "-", name: "02", read: number("day", 0, 100) },
  { before: "T", name: "15", read: number("hour", 0, 24, true) },
  { before: ":", name: "04", read: number("minute", 0, 60) },
  { before: ":", name: "05", read: readSecond },
  { before: "", name: "Z07:00", read: readZone },
];

/** Why a text is no time, in Go's words: `parsing time "x" as "2006-…": cannot parse "x" as "2006"`; `undefined` for one that is. */
export function goTimeError(text: string): string | undefined {
  const wrong = (detail: string): string => `parsing time ${quoteBytes(text)}${detail}`;
  const unread = (rest: string, name: string): string =>
    wrong(` as ${quoteBytes(LAYOUT)}: cannot parse ${quoteBytes(rest)} as ${quoteBytes(name)}`);
  let rest = text;
  for (const { before, name, read } of PARTS) {
    if (!rest.startsWith(before)) return unread(rest, before);
    rest = rest.slice(before.length);
    const step = read(rest);
    if (step === undefined) return unread(rest, name);
    if (step.range !== undefined) return wrong(`: ${step.range} out of range`);
    rest = step.rest;
  }
  if (rest !== "") return wrong(`: extra text: ${quoteBytes(rest)}`);
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  return day < 1 || day > daysIn(year, month) ? wrong(": day out of range") : undefined;
}

/** The day before the first of the next month. Years below 100 would be taken for those of the last century. */
function daysIn(year: number, month: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

/** In double quotes as Go's package for times prints texts: what is not plain ASCII by its bytes. */
function quoteBytes(text: string): string {
  const quoted = Array.from(text, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    if (character >= " " && character < "\u0080") return character;
    return Array.from(Buffer.from(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  });
  return `"${quoted.join("")}"`;
}
