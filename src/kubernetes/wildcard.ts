/** Patterns in which `*` stands for any text (spec certificate-request-policy.md 2.3). */

/**
 * Whether the whole text fits a pattern. Only `*` is special: any characters, or none; nothing escapes it. Letter case counts. Takes quadratic time
 * at most: of the stars behind it only the last one can still take more.
 */
export function wildcardMatches(pattern: string, text: string): boolean {
  // Code units tell the same as code points: no character of well-formed text begins within another.
  let [at, read] = [0, 0];
  /** Behind the last star, and where the text went on after it. */
  let [star, resumed] = [-1, 0];
  while (read < text.length) {
    if (pattern[at] === "*") {
      star = ++at;
      resumed = read;
    } else if (at < pattern.length && pattern.charCodeAt(at) === text.charCodeAt(read)) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star;
      read = ++resumed;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
