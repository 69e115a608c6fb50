/** "Did you mean": the nearest of a list of names. */

/** Greatest distance of a suggestion in edits: at most a third of the wanted name's length (at least 1, at most 4). */
const MAX_SUGGESTION_DISTANCE = 4;
/** Longest name with a suggestion: the comparison takes quadratic time. */
const MAX_NAME_LENGTH = 100;

/** The candidate nearest to `name`, when one is near enough to be a likely typing error; letter case counts little. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  let best: string | undefined;
  let bestDistance = Math.min(MAX_SUGGESTION_DISTANCE, Math.max(1, Math.floor(name.length / 3))) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(simplified(name), simplified(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean "x"?)`, or nothing. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const suggestion = nearest(name, candidates);
  return suggestion === undefined ? "" : ` (did you mean ${JSON.stringify(suggestion)}?)`;
}

/** A name without case and separators, which are confused most: `policy_mode`, `policymode` and `policyMode` are the same slip. */
function simplified(name: string): string {
  const bare = name.toLowerCase().replaceAll(/[-_]/g, "");
  return bare === "" ? name : bare;
}

/** Edits (insert, delete, replace, swap neighbours) that make `left` into `right`. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let edits = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        edits = Math.min(edits, beforeLast[column - 2]! + 1);
      }
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length]!;
}
