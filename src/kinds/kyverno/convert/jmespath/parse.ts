/** The syntax tree of a query, as Kyverno's dialect of JMESPath reads it. */
import { createRequire } from "node:module";
import type { compile } from "@jmespath-community/jmespath";
import { errorText } from "../../../../data/error-text.js";
import { parseJson } from "../../../../data/json.js";
import { NotConverted } from "../not-converted.js";

/** A node of the syntax tree. Literals hold their index in {@link ParsedQuery.literals}. */
export type Node = ReturnType<typeof compile>;

/** A literal that is a variable inside of the query: its word. */
export class Placeholder {
  constructor(readonly word: string) {}
}

/** A query that is read. */
export interface ParsedQuery {
  readonly tree: Node;
  readonly literals: readonly unknown[];
}

/** Loads the library at the first query, which few have: it takes some 20 ms of every start otherwise. */
const load = (): typeof import("@jmespath-community/jmespath") =>
  createRequire(import.meta.url)("@jmespath-community/jmespath");

/** Quoted names, which stay, raw strings and literals in backticks. */
const QUOTED = /"(?:[^"\\]|\\.)*"|'((?:\\'|[^'])*)'|`((?:[^`\\]|\\.)*)`/gs;

/** The longest query, in characters: its parts may stand inside of each other. */
const LONGEST_QUERY = 1_500;

/**
 * Reads a query.
 * @throws NotConverted where it is not JMESPath
 */
export function parseQuery(source: string): ParsedQuery {
  // Kyverno's raw strings know the escape \' alone, and the library's literals lose the difference between 1 and 1.0.
  const literals: unknown[] = [];
  if (source.length > LONGEST_QUERY)
    throw new NotConverted([], `a query of more than ${LONGEST_QUERY} characters is not converted`);
  try {
    const plain = source.replaceAll(QUOTED, (text, raw: string | undefined, json: string | undefined) => {
      if (raw === undefined && json === undefined) return text;
      literals.push(raw === undefined ? literalOf((json ?? "").trim()) : raw.replaceAll("\\'", "'"));
      return `\`${literals.length - 1}\``;
    });
    return { tree: load().compile(plain), literals };
  } catch (error) {
    throw new NotConverted([], `${JSON.stringify(source)} is not a query in JMESPath: ${errorText(error)}`);
  }
}

const literalOf = (text: string): unknown =>
  /^_variable_\d+_$/.test(text) ? new Placeholder(text) : parseJson(text.replaceAll("\\`", "`"));
