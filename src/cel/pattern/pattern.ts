/**
 * Regular expressions with RE2's syntax, Go's error texts, and time linear in the text (spec kubernetes-cel.md 3.3 and 9.3).
 */
import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { CelError } from "../values/cel-error.js";
import { tooLarge } from "../values/limits.js";
import { originalFragment, type Rewritten, rewrite } from "./rewrite.js";

/**
 * Instructions a pattern may compile to. Go allows 3.3 million; here each costs about a kilobyte while it is compiled, and 50,000 take 0.1 s.
 */
const MAX_PROGRAM_SIZE = 50_000;

/**
 * Characters looked at while finding all matches, if each search ran to the end of the text, before the time is looked at: some seconds at the very
 * worst. One search is linear in the text, but there are patterns (`a*b|`) of which every one of many matches needs a look at all the rest.
 */
const UNTIMED_WORK = 10_000_000;

/** Milliseconds that finding all matches of one text may take beyond that. */
const MAX_FIND_ALL_TIME = 2_000;

/** Monotonic milliseconds. */
export type Clock = () => number;

const systemClock: Clock = () => performance.now();

const PREFIX = "error parsing regexp: ";

/** Where one match begins and ends, in UTF-16 units, with its groups: `undefined` where a group took no part. */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
}

/** A compiled pattern. */
export class Pattern {
  readonly #compiled: RE2JS;
  readonly #now: Clock;

  /** @param size about how many instructions it is compiled to */
  constructor(
    readonly source: string,
    readonly size: number,
    compiled: RE2JS,
    now: Clock,
  ) {
    this.#compiled = compiled;
    this.#now = now;
  }

  /** The number of capturing groups. */
  get groupCount(): number {
    return this.#compiled.groupCount();
  }

  /** Whether some part of the text matches. */
  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The first match's text. */
  find(text: string): string | undefined {
    const matcher = this.#compiled.matcher(text);
    return matcher.find() ? text.slice(matcher.start(), matcher.end()) : undefined;
  }

  /**
   * All matches in order, at most `limit`, with their groups if wanted. An empty match right behind another match is passed over.
   *
   * @returns an error when it takes too long
   */
  matches(text: string, limit: number, withGroups: boolean): readonly Match[] | CelError {
    const found: Match[] = [];
    const matcher = this.#compiled.matcher(text);
    let lastEnd = -1;
    let work = 0;
    const start = this.#now();
    while (found.length < limit && matcher.find()) {
      work += text.length - Math.max(lastEnd, 0);
      if (work > UNTIMED_WORK && this.#now() - start > MAX_FIND_ALL_TIME) return tooLarge();
      const [from, end] = [matcher.start(), matcher.end()];
      if (end > from || from !== lastEnd) {
        const groups: (string | undefined)[] = [];
        if (withGroups) for (let i = 1; i <= this.groupCount; i++) groups.push(matcher.group(i) ?? undefined);
        found.push({ start: from, end, groups });
      }
      lastEnd = end;
    }
    return found;
  }
}

/** Compiles a pattern; the error has Go's text: `error parsing regexp: missing closing ): …`. */
export function compilePattern(source: string, now: Clock = systemClock): Pattern | CelError {
  const rewritten = rewrite(source);
  if (rewritten.size > MAX_PROGRAM_SIZE) return new CelError(`${PREFIX}expression too large`);
  try {
    return new Pattern(source, rewritten.size, RE2JS.compile(rewritten.pattern), now);
  } catch (error) {
    return new CelError(errorText(source, rewritten, error));
  }
}

function errorText(source: string, rewritten: Rewritten, error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) return `${PREFIX}expression too large`;
  const { message } = error;
  if (message === `${PREFIX}trailing backslash at end of expression`) return `${message}: \`\``;
  const quote = message.indexOf(": `");
  if (quote === -1) return message;
  const fragment = message.slice(quote + 3, -1);
  return `${message.slice(0, quote + 3)}${originalFragment(source, rewritten, fragment)}\``;
}

/** Instructions of all patterns that a cache keeps compiled: some 100 MB at the worst, a few MB with the patterns that policies have. */
const MAX_CACHED_SIZE = 100_000;
/** Compiled patterns kept. */
const MAX_CACHED_PATTERNS = 500;

/** The patterns used last, compiled: expressions apply the same few to many texts. */
export class PatternCache {
  readonly #compiled = new LRUCache<string, Pattern | CelError>({
    max: MAX_CACHED_PATTERNS,
    maxSize: MAX_CACHED_SIZE,
    sizeCalculation: (pattern, source) => (pattern instanceof Pattern ? pattern.size : source.length) + 1,
  });

  /** The compiled pattern, or the error of a bad one. */
  get(source: string): Pattern | CelError {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const pattern = compilePattern(source);
    this.#compiled.set(source, pattern);
    return pattern;
  }
}
