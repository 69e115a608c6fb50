/** Times as Go's `time.Parse` reads them by the two layouts of Kubernetes, with its words for errors, and as Kubernetes prints them. */

/** A point in time. */
export interface Instant {
  /** Seconds since 1970, in UTC. */
  readonly seconds: number;
  readonly microseconds: number;
  /** Whether there is a fraction of a second. */
  readonly fraction: boolean;
}

/** A point in time, or the error of the text. */
export type GoTime = Instant | { readonly error: string };

/** One part of a layout: the text in front of it, and its element. */
type Part = readonly [prefix: string, element: string];

const DATE: readonly Part[] = [
  ["", "2006"],
  ["-", "01"],
  ["-", "02"],
  ["T", "15"],
  [":", "04"],
  [":", "05"],
];
const FRACTION = ".000000";
const ZONE = "Z07:00";

/** Reads a metav1.Time: any fraction of a second may follow, and is dropped when it is printed. */
export const readTime = (text: string): GoTime => new Reader(text, [...DATE, ["", ZONE]]).read();

/** Reads a metav1.MicroTime: six digits of a fraction. */
export const readMicroTime = (text: string): GoTime => new Reader(text, [...DATE, ["", FRACTION], ["", ZONE]]).read();

/** Year 1, which means "no time". */
const ZERO_SECONDS = secondsOf(1, 1, 1, 0, 0, 0);

/** The text that metav1.Time prints, in UTC; null for the zero time. */
export function printTime(time: Instant): string | null {
  return time.seconds === ZERO_SECONDS && !time.fraction ? null : `${printDate(time.seconds)}Z`;
}

/** The text that metav1.MicroTime prints. */
export function printMicroTime(time: Instant): string | null {
  if (time.seconds === ZERO_SECONDS && !time.fraction) return null;
  return `${printDate(time.seconds)}.${digits(time.microseconds, 6)}Z`;
}

function printDate(seconds: number): string {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  const day = `${year < 0 ? "-" : ""}${digits(Math.abs(year), 4)}-${digits(date.getUTCMonth() + 1, 2)}-${digits(date.getUTCDate(), 2)}`;
  return `${day}T${digits(date.getUTCHours(), 2)}:${digits(date.getUTCMinutes(), 2)}:${digits(date.getUTCSeconds(), 2)}`;
}

const digits = (value: number, width: number): string => String(value).padStart(width, "0");

function secondsOf(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  // Years below 100 would be read as those of the last century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return date.getTime() / 1000;
}

/** The number of days in a month: the day before the first of the next one. */
const daysIn = (year: number, month: number): number =>
  new Date(secondsOf(year, month + 1, 0, 0, 0, 0) * 1000).getUTCDate();

/** Reads one text (disposable). */
class Reader {
  readonly #text: string;
  readonly #parts: readonly Part[];
  #rest: string;
  readonly #numbers: Record<string, number> = {};
  #fraction = "";
  #offset = 0;

  constructor(text: string, parts: readonly Part[]) {
    this.#text = text;
    this.#parts = parts;
    this.#rest = text;
  }

  read(): GoTime {
    for (const [prefix, element] of this.#parts) {
      if (!this.#rest.startsWith(prefix)) return this.#cannot(this.#rest, prefix);
      this.#rest = this.#rest.slice(prefix.length);
      const before = this.#rest;
      const problem = this.#read(element);
      if (problem === "unreadable") return this.#cannot(before, element);
      if (problem !== undefined) return this.#failed(`: ${problem} out of range`);
    }
    if (this.#rest !== "") return this.#failed(`: extra text: ${quoted(this.#rest)}`);
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = DATE.map(
      ([, part]) => this.#numbers[part],
    );
    if (day < 1 || day > daysIn(year, month)) return this.#failed(": day out of range");
    return {
      seconds: secondsOf(year, month, day, hour, minute, second) - this.#offset,
      microseconds: Number(this.#fraction.padEnd(6, "0").slice(0, 6)),
      fraction: Number(this.#fraction) > 0,
    };
  }

  /** Reads one element; answers the part that is out of range. */
  #read(element: string): "unreadable" | string | undefined {
    switch (element) {
      case "2006":
        return this.#number(element, /^[0-9]{4}/, 0, 9999, "year");
      case "01":
        return this.#number(element, /^[0-9]{2}/, 1, 12, "month");
      case "02":
        return this.#number(element, /^[0-9]{2}/, 0, 99, "day");
      case "15":
        return this.#number(element, /^[0-9]{1,2}/, 0, 23, "hour");
      case "04":
        return this.#number(element, /^[0-9]{2}/, 0, 59, "minute");
      case "05":
        return this.#number(element, /^[0-9]{2}/, 0, 59, "second") ?? this.#anyFraction();
      case FRACTION:
        return this.#exactFraction();
      default:
        return this.#zone();
    }
  }

  #number(element: string, pattern: RegExp, least: number, most: number, name: string): string | undefined {
    const found = pattern.exec(this.#rest)?.[0];
    if (found === undefined) return "unreadable";
    this.#rest = this.#rest.slice(found.length);
    const value = Number(found);
    this.#numbers[element] = value;
    return value < least || value > most ? name : undefined;
  }

  /** Reads a fraction where the layout has none: any is allowed. */
  #anyFraction(): undefined {
    if (this.#parts.some(([, element]) => element === FRACTION)) return undefined;
    this.#fraction = /^[.,]([0-9]+)/.exec(this.#rest)?.[1] ?? "";
    if (this.#fraction !== "") this.#rest = this.#rest.slice(this.#fraction.length + 1);
    return undefined;
  }

  #exactFraction(): "unreadable" | undefined {
    const found = /^[.,]([0-9]{6})/.exec(this.#rest)?.[1];
    if (found === undefined) return "unreadable";
    this.#fraction = found;
    this.#rest = this.#rest.slice(FRACTION.length);
    return undefined;
  }

  #zone(): string | undefined {
    if (this.#rest.startsWith("Z")) {
      this.#rest = this.#rest.slice(1);
      return undefined;
    }
    const found = /^(.)(..):(..)/s.exec(this.#rest);
    if (found === null) return "unreadable";
    const [whole, sign = "", hour = "", minute = ""] = found;
    this.#rest = this.#rest.slice(whole.length);
    const readable = /^[0-9]{2}$/;
    const [hours, minutes] = [readable.test(hour) ? Number(hour) : 0, readable.test(minute) ? Number(minute) : 0];
    // People do write offsets of 24 hours or 60 minutes.
    if (minutes > 60) return "time zone offset minute";
    if (hours > 24) return "time zone offset hour";
    if (!/^[+-]$/.test(sign) || !readable.test(hour) || !readable.test(minute)) return "unreadable";
    this.#offset = (sign === "-" ? -1 : 1) * (hours * 60 + minutes) * 60;
    return undefined;
  }

  #cannot(rest: string, element: string): GoTime {
    const layout = this.#parts.map((part) => part.join("")).join("");
    return this.#failed(` as ${quoted(layout)}: cannot parse ${quoted(rest)} as ${quoted(element)}`);
  }

  #failed(how: string): GoTime {
    return { error: `parsing time ${quoted(this.#text)}${how}` };
  }
}

/** A text in quotes, by the rules of Go's package of times. */
function quoted(text: string): string {
  let out = "";
  for (const character of text) {
    if (character >= " " && character < "\u0080") out += /["\\]/.test(character) ? `\\${character}` : character;
    else for (const octet of Buffer.from(character)) out += `\\x${octet.toString(16).padStart(2, "0")}`;
  }
  return `"${out}"`;
}
