/**
 * Warnings in the form that the API server passes on: it drops empty ones and those with line breaks. Where all together have more than 4096 characters it cuts each
 * that has more than 256, and stops at 4096, without a message. Here they are cut with one.
 */

/** Most characters of one warning, where all together have too many. */
const MOST_CHARACTERS = 256;
/** Most characters of all warnings together. */
const MOST_IN_ALL = 4096;
/** Room for the last line with the number of missing ones. */
const RESERVE = 40;

/** The same warnings, each on one line and within the limits; the list itself when there is nothing to do. */
export function presentableWarnings(warnings: readonly string[]): readonly string[] {
  if (warnings.every(isPresentable) && lengthOf(warnings) <= MOST_IN_ALL) return warnings;
  const whole = warnings.map(oneLine).filter((line) => line !== "");
  if (lengthOf(whole) <= MOST_IN_ALL) return whole;
  const lines = whole.map(cut);
  if (lengthOf(lines) <= MOST_IN_ALL) return lines;
  const kept: string[] = [];
  let left = MOST_IN_ALL - RESERVE;
  for (const line of lines) {
    left -= line.length;
    if (left < 0) break;
    kept.push(line);
  }
  return [...kept, `… and ${lines.length - kept.length} more warnings`];
}

function isPresentable(warning: string): boolean {
  return warning !== "" && !/\p{Cc}/u.test(warning);
}

function oneLine(warning: string): string {
  return warning.replace(/[\p{Cc}\s]+/gu, " ").trim();
}

function cut(line: string): string {
  const characters = Array.from(line);
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join("")}…` : line;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length, 0);
}
