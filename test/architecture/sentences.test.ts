/** Comments and messages name their subject, so that a stranger understands them at once. The pages have their own test: test/docs/words.test.ts. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";

const SRC = new URL("../../../src/", import.meta.url);

interface Riddle {
  readonly pattern: RegExp;
  /** The reader's question, and the wording that answers it. */
  readonly instead: string;
}

const RIDDLES: readonly Riddle[] = [
  {
    // The id "everybody" is part of a path that webhooks of clusters have.
    pattern: /\b(?!(?<=")everybody")(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body\b/g,
    instead: "name the subject: the caller, the client, the requester, a policy's author",
  },
  { pattern: /\b[Ww]hoever\b/g, instead: 'name the subject, or write "the one that"' },
  { pattern: /\bfor want of\b/gi, instead: 'write "for lack of", or "without"' },
  { pattern: /\bone that is not there\b/gi, instead: 'write "a missing" and the noun' },
  {
    // "There is no object" has its subject behind the verb, and "is no longer" is a word of time.
    pattern: /(?<!\bt?here )\b(?:is|are|was|were) no (?!longer\b|more\b|different\b)[A-Za-z]+/gi,
    instead: 'write "is not a": "is no YAML" reads like "there is no YAML"',
  },
  {
    pattern: /(?:\/\*\*?|\/\/|^\s*\*|;;|@param \w+|@returns) (?:Who|Whom|Whose|What)\b.*/gm,
    instead: "begin with the noun that the clause stands for, or with a verb",
  },
];

/** The riddles of a source file, each with its line. */
function riddlesIn(source: string): string[] {
  return RIDDLES.flatMap(({ pattern, instead }) =>
    [...source.matchAll(pattern)].map(({ 0: found, index }) => {
      const line = source.slice(0, index).split("\n").length;
      return `${line}: "${found.trim()}": ${instead}`;
    }),
  );
}

describe("comments and messages name their subject", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => /\.(?:ts|wat)$/.test(file));

  for (const room of new Set(files.map((file) => file.split("/")[0] ?? file))) {
    test(room, () => {
      const own = files.filter((file) => file === room || file.startsWith(`${room}/`));
      const found = own.flatMap((file) =>
        riddlesIn(readFileSync(new URL(file, SRC), "utf8")).map((riddle) => `src/${file}:${riddle}`),
      );
      assert.deepEqual(found, []);
    });
  }
});

describe("a riddle is found", () => {
  for (const text of [
    "/** Who may use a policy. */",
    "/** What an expression refers to. */",
    "  // Whose answer counts",
    " * @param name What is looked for",
    "// an object that nobody names",
    'fail("somebody else changes it")',
    "/** For whoever asks. */",
    'fail("the answer is no JSON")',
    "// values that are no maps",
    "// fails for want of memory",
    "// a file is one that is not there",
  ])
    test(text, () => assert.equal(riddlesIn(text).length, 1));

  for (const text of [
    "/** Whether there is no such object, or it is no longer served. */",
    "const NOBODY = 1;",
    'fail("the answer is not JSON")',
  ])
    test(`and none in ${text}`, () => assert.deepEqual(riddlesIn(text), []));
});
