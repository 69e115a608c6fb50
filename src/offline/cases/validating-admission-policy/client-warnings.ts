/** The warnings that reach a client: what the API server's recorder lets through (spec validating-admission-policy.md 2.5). */

/** Code points of all warnings together up to which every one goes out whole; beyond, each is cut, and the total stays below. */
const TOTAL_MAX = 4_096;
/** Code points of a warning once the total is exceeded. */
const CUT_LENGTH = 256;

/** Repetitions, empty texts and those that no header can carry are dropped, long ones cut when there is too much. */
export function clientWarnings(texts: readonly string[]): readonly string[] {
  const recorded: string[] = [];
  const seen = new Set<string>();
  let total = 0;
  let truncating = false;
  let sent: string[] = [];
  const send = (text: string): void => {
    if (!canBeHeader(text)) return;
    sent.push(text);
    total += [...text].length;
  };
  for (const text of texts) {
    if (text === "" || seen.has(text) || (truncating && total >= TOTAL_MAX)) continue;
    seen.add(text);
    recorded.push(text);
    if (truncating) send(cut(text));
    else if (!canBeHeader(text) || total + [...text].length <= TOTAL_MAX) send(text);
    else {
      truncating = true;
      sent = [];
      total = 0;
      for (const earlier of recorded) send(cut(earlier));
    }
  }
  return sent;
}

const cut = (text: string): string => [...text].slice(0, CUT_LENGTH).join("");

/** No control characters, and well-formed. */
const canBeHeader = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);
