/** Finds the name that was probably meant. */

/** Length of names that are compared: it takes quadratic time. */
const MAX_NAME_LENGTH = 60;
/** Edits up to which two names count as similar. */
const MAX_EDITS = 3;

/** The names nearest to `name`, when they are near enough to be a likely slip; letter case and underscores count nothing. Nearest first. */
export function nearNames(name: string, names: Iterable<string>): readonly string[] {
  if (name.length > MAX_NAME_LENGTH) return [];
  const wanted = bare(name);
  const most = Math.min(MAX_EDITS, Math.floor(wanted.length / 3));
  const found: { readonly name: string; readonly edits: number }[] = [];
  for (const candidate of names) {
    if (candidate === name || Math.abs(candidate.length - name.length) > MAX_EDITS + 2) continue;
    const edits = editsBetween(wanted, bare(candidate));
    if (edits <= most) found.push({ name: candidate, edits });
  }
  return found.sort((a, b) => a.edits - b.edits).map((each) => each.name);
}

const bare = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** Characters to insert, delete, replace or swap with their neighbours. */
function editsBetween(left: string, right: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let edits = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) edits = Math.min(edits, beforeLast[column - 2]! + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length]!;
}
