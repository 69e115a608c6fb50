import type { Stretch } from "./positions.js";

/** A piece of a line and its classes, separated by spaces. */
export interface Piece {
  readonly text: string;
  readonly classes: string;
}

interface Coloured extends Stretch {
  readonly name: string;
}

/** Longest line with colours: longer ones are hardly read, and cost most. */
const LONGEST_COLOURED = 2000;
const TOKENS =
  /(?<comment>(?<=^|\s)#.*$)|(?<key>(?<=^\s*(?:- +)*)(?:"[^"]*"|'[^']*'|[\w./-]+)(?=\s*:(?:\s|$)))|(?<text>"(?:[^"\\]|\\.)*"?|(?<=[\s[{,:(=!]|^)'[^']*'?)|(?<value>(?<=[\s[{,:]|^)(?:true|false|null|-?\d[\d.]*)(?=[\s,\]}]|$))/g;

/** The keys, texts and comments of a line of YAML or JSON. A guess by the line alone: it only colours. */
function colours(line: string): Coloured[] {
  if (line.length > LONGEST_COLOURED) return [];
  return [...line.matchAll(TOKENS)].map((match) => {
    const name = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? "";
    const json = name === "text" && /^\s*:/.test(line.slice(match.index + match[0].length));
    return { name: json ? "key" : name, from: match.index, to: match.index + match[0].length };
  });
}

/** A mistake within a line. */
export interface Mark extends Stretch {
  readonly severity: "error" | "warning";
}

/** A line cut where a colour or a mark begins or ends. A mark behind the end gets a space of its own. */
export function piecesOf(line: string, marks: readonly Mark[]): Piece[] {
  const all = [...colours(line), ...marks.map((mark) => ({ ...mark, name: `mark ${mark.severity}` }))];
  const cuts = new Set([0, line.length, ...all.flatMap(({ from, to }) => [from, to])]);
  const places = [...cuts].filter((cut) => cut <= line.length).sort((a, b) => a - b);
  const pieces: Piece[] = [];
  for (let index = 0; index + 1 < places.length; index += 1) {
    const [from = 0, to = 0] = places.slice(index, index + 2);
    const names = all.filter((stretch) => stretch.from <= from && stretch.to >= to).map(({ name }) => name);
    pieces.push({ text: line.slice(from, to), classes: names.join(" ") });
  }
  const missing = marks.find(({ from }) => from >= line.length);
  if (missing !== undefined) pieces.push({ text: " ", classes: `mark ${missing.severity}` });
  return pieces;
}
