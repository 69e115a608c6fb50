/** Whether an expression that is being typed goes on in the next line. */

const OPENING = "([{";
const CLOSING = ")]}";

/** Whether a bracket or a text in three quotes is open at the end. Strings and comments are passed over; what is wrong is left to the compiler. */
export function isUnfinished(source: string): boolean {
  let depth = 0;
  for (let i = 0; i < source.length; i++) {
    const c = source.charAt(i);
    if (OPENING.includes(c)) depth += 1;
    else if (CLOSING.includes(c)) depth -= 1;
    else if (c === "/" && source.charAt(i + 1) === "/") {
      const end = source.indexOf("\n", i);
      if (end < 0) break;
      i = end;
    } else if (c === '"' || c === "'") {
      const end = stringEnd(source, i);
      if (end === undefined) return source.startsWith(c.repeat(3), i);
      i = end;
    }
  }
  return depth > 0;
}

/** The index of the last quote of a string; undefined when it does not end. */
function stringEnd(source: string, start: number): number | undefined {
  const quote = source.charAt(start);
  const mark = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  const raw = /[rR]/.test(source.charAt(start - 1));
  for (let i = start + mark.length; i < source.length; i++) {
    if (source.charAt(i) === "\\" && !raw) i += 1;
    else if (source.startsWith(mark, i)) return i + mark.length - 1;
    else if (mark.length === 1 && source.charAt(i) === "\n") return i;
  }
  return undefined;
}
