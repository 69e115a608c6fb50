/** Texts of JSON as chance has them. */

/** Numbers that look like chance, and are the same every time. */
export function chance(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 48_271) % 0x7fffffff;
    return state % most;
  };
}

const KEYS = [
  ...["a", "b", "name", 'k:{"name":"x"}', "aaaaaaaa", "aaaaaaab", "aaaaaaaaa", "", "ä", "é🙂", "\n", "/", "7", "10"],
  ...["object", "request", "metadata", "__proto__"],
];
const SCALARS = [
  ...["0", "-1", "12", "0.5", "true", "false", "null", '""', '"x"', '"ä🙂"', '"12345678901234567890"', '"a,b]}"'],
  String.raw`"\"\\\/\b\f\n\r\t\u00e4"`,
];

/** A text of JSON in which some objects may have a key twice, with white space here and there. */
export function someJson(next: (most: number) => number, depth = 0): string {
  const space = (): string => (next(8) === 0 ? ([" ", "\n", "\t", "\r\n   "][next(4)] ?? "") : "");
  const many = next(5);
  const kind = depth > 5 ? 2 : next(4);
  const inner = (): string => `${space()}${someJson(next, depth + 1)}${space()}`;
  if (kind === 0) return `[${Array.from({ length: many }, inner).join(",")}]`;
  if (kind === 1 || depth === 0) {
    const members = Array.from({ length: many }, () => {
      const key = JSON.stringify(KEYS[next(KEYS.length)]);
      const written = next(20) === 0 ? key.replace("a", String.raw`\u0061`) : key;
      return `${space()}${written}${space()}:${inner()}`;
    });
    return `{${members.join(",")}}`;
  }
  return SCALARS[next(SCALARS.length)] ?? "";
}
