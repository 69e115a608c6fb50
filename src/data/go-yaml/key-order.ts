/** The order in which go-yaml v2 prints keys: letters after all else, numbers inside by their value. */
export const compareKeys = (a: string, b: string): number => compare(a, b, false);

/** The order of v3: behind a digit, letters come before all else. */
export const compareKeysOfVersion3 = (a: string, b: string): number => compare(a, b, true);

function compare(a: string, b: string, digitsTell: boolean): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let index = 0; index < left.length && index < right.length; index++) {
    const [x = "", y = ""] = [left[index], right[index]];
    if (x === y) continue;
    const [letterX, letterY] = [isLetter(x), isLetter(y)];
    const behindDigit = digitsTell && /^\p{Nd}$/u.test(left[index - 1] ?? "");
    if (letterX !== letterY) return letterX === behindDigit ? -1 : 1;
    if (letterX) return order(code(x), code(y));
    return compareNumbers(left, right, index);
  }
  return order(left.length, right.length);
}

function compareNumbers(left: readonly string[], right: readonly string[], index: number): number {
  const [x = "", y = ""] = [left[index], right[index]];
  // A zero counts when digits before it make it one of a number.
  const lead = (x === "0" || y === "0") && endsNumber(left.slice(0, index)) ? "1" : "0";
  const [digitsX, digitsY] = [digitsFrom(left, index), digitsFrom(right, index)];
  // Numbers beyond 64 bits overflow there, and so here.
  const byValue = order(BigInt.asIntN(64, BigInt(lead + digitsX)), BigInt.asIntN(64, BigInt(lead + digitsY)));
  return byValue || order(digitsX.length, digitsY.length) || order(code(x), code(y));
}

function endsNumber(before: readonly string[]): boolean {
  return /[1-9]0*$/.test(before.join(""));
}

function digitsFrom(characters: readonly string[], index: number): string {
  return /^\d*/.exec(characters.slice(index).join(""))?.[0] ?? "";
}

function isLetter(character: string): boolean {
  return /^\p{L}$/u.test(character);
}

function code(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function order<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
