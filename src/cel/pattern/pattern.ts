/**
 * Regular expressions with RE2's syntax, Go's error texts, and time linear in the text (spec kubernetes-cel.md 3.3 and 9.3).
 */
import { createRequire } from "node:module";
import { LRUCache } from "lru-cache";
import type { RE2JS } from "re2js";
import { CelError } from "../values/cel-error.js";
import { tooLarge } from "../values/limits.js";
import { originalFragment, type Rewritten, rewrite } from "./rewrite.js";

/**
 * Most instructions a pattern may compile to. Go allows 3.3 million; here each costs about a kilobyte while it is compiled, and 50,000 take 0.1 s.
 */
const MAX_PROGRAM_SIZE = 50_000;

/**
 * Most instructions, and characters of the source, of a pattern that is first met in an evaluation: they take some 50 ms to compile, while the constant
 * patterns of policies are compiled before there are requests. Lists of hundreds of allowed names, joined by `|`, fit. A class such as
 * `\pL` takes as long as many characters.
 */
const MAX_DYNAMIC_SIZE = 12_000;
const MAX_DYNAMIC_EFFORT = 12_000;

/**
 * Most work of one search, in units of about a nanosecond. Time is linear in the text, but grows with the pattern too; the limit holds for the worst
 * patterns, and most take a tenth of that or less.
 */
const MAX_SEARCH_WORK = 150_000_000;

/** The work for each character at the worst: for every search, and for every instruction of the pattern. */
const TEST_UNITS = { search: 15, instruction: 1.3 };
const FIND_UNITS = { search: 200, instruction: 30 };

/**
 * Milliseconds that finding all matches of one text may take when the work may exceed that of one search: there are patterns (`a*b|`) of which every
 * one of many matches needs a look at all the rest of the text.
 */
const MAX_FIND_ALL_TIME = 100;

/** Octets of the states that a pattern's automaton keeps from one text to the next; a hostile text can make it have millions. */
const MAX_KEPT_STATES = 262_144;

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

const require = createRequire(import.meta.url);

/** Loads the library that compiles patterns. Node keeps it once it is loaded. May throw. */
export type LibraryLoader = () => typeof import("re2js");

/** Loads the library on demand: many policies have no pattern, and its tables of characters take 2 MiB. */
const re2js: LibraryLoader = () => require("re2js");

/** The library; an error where it can't be loaded, for lack of file descriptors perhaps. */
function loaded(load: LibraryLoader): ReturnType<LibraryLoader> | CelError {
  try {
    return load();
  } catch {
    return new CelError("regular expressions could not be loaded");
  }
}

/** Loads the library before there are evaluations that need it. If that fails, each of them tries again, and reports the error. */
export function loadPatterns(): void {
  loaded(re2js);
}

/** A compiled pattern. */
export class Pattern {
  readonly #compiled: RE2JS;
  readonly #now: Clock;
  readonly #instructions: number;

  /** @param size about the number of instructions it is compiled to */
  constructor(
    readonly source: string,
    readonly size: number,
    compiled: RE2JS,
    now: Clock,
  ) {
    this.#compiled = compiled;
    this.#now = now;
    this.#instructions = compiled.programSize();
  }

  /** The work of a search in so many characters, at the worst. */
  #work(characters: number, units: typeof TEST_UNITS): number {
    return characters * (units.search + units.instruction * this.#instructions);
  }

  /** Drops the automaton's kept states, when they are many. */
  #trim(): void {
    const { lazyDFA } = this.#compiled.re2() as { readonly lazyDFA: RE2JSAutomaton | null };
    if (lazyDFA !== null && lazyDFA.maxMem - lazyDFA.memBudget > MAX_KEPT_STATES) lazyDFA.clearCache();
  }

  /** The number of capturing groups. */
  get groupCount(): number {
    return this.#compiled.groupCount();
  }

  /** Whether some part of the text matches. Ends the evaluation where that may take too long, as the other methods do. */
  test(text: string): boolean {
    if (this.#work(text.length, TEST_UNITS) > MAX_SEARCH_WORK) return tooLarge();
    const found = this.#compiled.test(text);
    this.#trim();
    return found;
  }

  /** Whether a text has no match. Tested for long texts only: finding a match is many times the work of a test. */
  #isWithout(text: string): boolean {
    if (this.#work(text.length, FIND_UNITS) <= MAX_SEARCH_WORK) return false;
    return this.test(text) ? tooLarge() : true;
  }

  /** The first match's text. */
  find(text: string): string | undefined {
    if (this.#isWithout(text)) return undefined;
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
    if (this.#isWithout(text)) return found;
    const matcher = this.#compiled.matcher(text);
    let lastEnd = -1;
    let work = 0;
    const start = this.#now();
    while (found.length < limit && matcher.find()) {
      work += this.#work(text.length - Math.max(lastEnd, 0), FIND_UNITS);
      if (work > MAX_SEARCH_WORK && this.#now() - start > MAX_FIND_ALL_TIME) return tooLarge();
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
export function compilePattern(
  source: string,
  now: Clock = systemClock,
  load: LibraryLoader = re2js,
): Pattern | CelError {
  const library = loaded(load);
  return library instanceof CelError ? library : compileWith(library, source, now);
}

function compileWith(library: ReturnType<LibraryLoader>, source: string, now: Clock): Pattern | CelError {
  const rewritten = rewrite(source);
  if (rewritten.size > MAX_PROGRAM_SIZE) return new CelError(`${PREFIX}expression too large`);
  try {
    return new Pattern(source, rewritten.size, library.RE2JS.compile(rewritten.pattern), now);
  } catch (error) {
    if (!(error instanceof library.RE2JSSyntaxException)) return new CelError(`${PREFIX}expression too large`);
    return new CelError(errorText(source, rewritten, error.message));
  }
}

/** Compiles a pattern from data: one that would take long to compile ends the evaluation. */
function compileDynamic(library: ReturnType<LibraryLoader>, source: string): Pattern | CelError {
  if (source.length > MAX_DYNAMIC_EFFORT) return tooLarge();
  const { size, effort } = rewrite(source);
  return size > MAX_DYNAMIC_SIZE || effort > MAX_DYNAMIC_EFFORT
    ? tooLarge()
    : compileWith(library, source, systemClock);
}

/** The parts of the library's automaton that are used. */
interface RE2JSAutomaton {
  readonly maxMem: number;
  readonly memBudget: number;
  clearCache(): void;
}

function errorText(source: string, rewritten: Rewritten, message: string): string {
  if (message === `${PREFIX}trailing backslash at end of expression`) return `${message}: \`\``;
  const quote = message.indexOf(": `");
  if (quote === -1) return message;
  const fragment = message.slice(quote + 3, -1);
  return `${message.slice(0, quote + 3)}${originalFragment(source, rewritten, fragment)}\``;
}

/** Instructions of all patterns that a cache keeps compiled: some 60 MB at the worst, a few MB with the patterns that policies have. */
const MAX_CACHED_SIZE = 60_000;
/** Compiled patterns kept. */
const MAX_CACHED_PATTERNS = 500;

/** The patterns used last, compiled: expressions apply the same few to many texts. */
export class PatternCache {
  readonly #compiled = new LRUCache<string, Pattern | CelError>({
    max: MAX_CACHED_PATTERNS,
    maxSize: MAX_CACHED_SIZE,
    sizeCalculation: (pattern, source) => (pattern instanceof Pattern ? pattern.size : source.length) + 1,
  });

  readonly #load: LibraryLoader;

  constructor(load: LibraryLoader = re2js) {
    this.#load = load;
  }

  /** The compiled pattern, or the error of a bad one. */
  get(source: string): Pattern | CelError {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const library = loaded(this.#load);
    // Not kept: the next evaluation may be able to load it.
    if (library instanceof CelError) return library;
    const pattern = compileDynamic(library, source);
    this.#compiled.set(source, pattern);
    return pattern;
  }
}
