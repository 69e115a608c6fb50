/** Breaks long expressions of CEL over lines, as a person would write them. */

/** Longest line, in characters. */
const WIDTH = 100;
const PAIRS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
/** The operators at which lines end, from the loosest. */
const BREAKS = [[" ? ", " : "], [" || "], [" && "], [" + "]] as const;

/** The expression; one with lines of its own stays as it is. */
export function brokenLines(expression: string): string {
  return expression.includes("\n") ? expression : lines(expression, 0).join("\n");
}

function lines(text: string, indent: number): readonly string[] {
  const lead = " ".repeat(indent);
  if (indent + text.length <= WIDTH) return [lead + text];
  const tops = topLevel(text);
  for (const operators of BREAKS) {
    const cuts = operators.flatMap((operator) => tops.cuts(operator));
    if (cuts.length === 0) continue;
    const ends = [...cuts.sort((a, b) => a - b).map((at) => at + 2), text.length];
    return ends.flatMap((end, index) => {
      const start = index === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
      return lines(text.slice(start, end), indent);
    });
  }
  const group = tops.longest;
  if (group === undefined || group.end - group.start < 30) return [lead + text];
  const [head, inner, tail] = [
    text.slice(0, group.start + 1),
    text.slice(group.start + 1, group.end),
    text.slice(group.end),
  ];
  // The names of a loop stay with it.
  const names = /^(?:\w+, )+/.exec(inner)?.[0] ?? "";
  const parts = commas(inner.slice(names.length));
  const body = parts.flatMap((part, index) => {
    const own = lines(part, indent + 2);
    return index === parts.length - 1 ? own : [...own.slice(0, -1), `${own.at(-1) ?? ""},`];
  });
  return [lead + head + names.trimEnd(), ...body, lead + tail];
}

interface TopLevel {
  /** Where an operator stands outside of all parentheses. */
  cuts(operator: string): number[];
  /** The longest pair of parentheses that is in no other. */
  readonly longest: { readonly start: number; readonly end: number } | undefined;
}

function topLevel(text: string): TopLevel {
  const open: { readonly at: number; readonly close: string }[] = [];
  const isTop = new Array<boolean>(text.length).fill(false);
  let longest: TopLevel["longest"];
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? "";
    if (character === '"' || character === "'") {
      i = endOfText(text, i);
      continue;
    }
    isTop[i] = open.length === 0;
    const close = PAIRS[character];
    if (close !== undefined) open.push({ at: i, close });
    else if (open.at(-1)?.close === character) {
      const start = open.pop()?.at ?? 0;
      // Only what is called, or stands by itself, is broken inside.
      const isCall = start > 0 || i === text.length - 1;
      if (open.length === 0 && isCall && i - start > (longest === undefined ? 0 : longest.end - longest.start))
        longest = { start, end: i };
    }
  }
  const cuts = (operator: string): number[] => {
    const found: number[] = [];
    for (let at = text.indexOf(operator); at >= 0; at = text.indexOf(operator, at + 1))
      if (isTop[at + 1] === true) found.push(operator.length === 3 ? at : at + 1);
    return found;
  };
  return { cuts, longest };
}

/** The end of a text that begins at a quote. */
function endOfText(text: string, start: number): number {
  const isRaw = /[rR]/.test(text[start - 1] ?? "");
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\" && !isRaw) i++;
    else if (text[i] === text[start]) return i;
  }
  return text.length;
}

/** The parts between commas outside of parentheses. */
function commas(text: string): readonly string[] {
  const ends = [
    ...topLevel(text)
      .cuts(", ")
      .map((at) => at - 1),
    text.length,
  ];
  return ends.map((end, index) => text.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 2, end));
}
