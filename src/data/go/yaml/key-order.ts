/** The order in which go-yaml v2 prints keys: letters after all else, numbers inside by their value. */
export const compareKeys = (a: string, b: string): number => compare(a, b, false);

/** The order of v3: behind a digit, letters come before all else. */
export const compareKeysOfVersion3 = (a: string, b: string): number => compare(a, b, true);

function compare(a: string, b: string, digitsTell: boolean): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === shorter) return order(a.length, b.length);
  // Two characters may share their first half.
  if (isLowHalf(a.charCodeAt(at)) && isLowHalf(b.charCodeAt(at))) at--;
  const [x, y] = [a.codePointAt(at) ?? 0, b.codePointAt(at) ?? 0];
  const [letterX, letterY] = [isLetter(x), isLetter(y)];
  if (letterX !== letterY) return letterX === (digitsTell && DIGIT_BEFORE.test(a.slice(0, at).slice(-2))) ? -1 : 1;
  return letterX ? order(x, y) : compareNumbers(a, b, at) || order(x, y);
}

const DIGIT_BEFORE = /\p{Nd}$/u;

function compareNumbers(a: string, b: string, at: number): number {
  // A zero counts when digits before it make it one of a number.
  const lead = (a[at] === "0" || b[at] === "0") && endsNumber(a, at) ? "1" : "0";
  const [digitsA, digitsB] = [digitsFrom(a, at), digitsFrom(b, at)];
  // Numbers beyond 64 bits overflow there, and so here.
  const byValue = order(BigInt.asIntN(64, BigInt(lead + digitsA)), BigInt.asIntN(64, BigInt(lead + digitsB)));
  return byValue || order(digitsA.length, digitsB.length);
}

function endsNumber(text: string, end: number): boolean {
  let at = end - 1;
  while (text[at] === "0") at--;
  return /^[1-9]$/.test(text[at] ?? "");
}

function digitsFrom(text: string, at: number): string {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end++;
  return text.slice(at, end);
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isLowHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isLetter = (code: number): boolean => /^\p{L}$/u.test(String.fromCodePoint(code));

function order<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
