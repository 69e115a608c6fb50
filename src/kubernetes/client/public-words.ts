/**
 * The parts of an API server's messages that answers repeat. Its messages name the requesting account (`User "system:serviceaccount:ns:name" cannot …`), and, where
 * it has asked others itself, their addresses. So known sentences are rebuilt from their parts; others appear only in answers
 * about the question itself (a selector that it cannot parse), and only when nothing in them looks like such a name.
 */

/** A text as Go quotes it. */
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
/** `pods is forbidden` or `pods "a" is forbidden`, with what the account may not; what follows is the authorizer's own explanation. */
const FORBIDDEN = new RegExp(
  String.raw`^((?:[\w./-]+(?: ${QUOTED})? is )?forbidden)(?:: User ${QUOTED} cannot ` +
    `([a-z*]+ (?:resource ${QUOTED}(?: in API group ${QUOTED})?(?: at the cluster scope| in the namespace ${QUOTED})?|path ${QUOTED})))?`,
);
const NOT_FOUND = new RegExp(
  String.raw`^(?:[\w./-]+ ${QUOTED} not found|the server could not find the requested resource)$`,
);

/** Statuses of errors in the question. */
const ABOUT_THE_QUESTION: ReadonlySet<number> = new Set([400, 404, 405, 406, 409, 410, 413, 415, 422]);

/** Accounts, addresses with a scheme, a port or four numbers (six groups), host names, and files. */
const TELLTALE =
  /system:|\buser\b|\btoken\b|:\/\/|:\d{2,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\da-f]{1,4}(?::[\da-f]{0,4}){2,}|\b[\w-]+\.(?:svc|local|internal)\b|(?:^|[\s"'(=])\/[\w.-]+|\b(?:dial|lookup) /i;

/** Longest message of an API server that is used in answers: more than any that names one resource. */
const MAX_CHARACTERS = 512;

/** The words for answers: of a Status with this code, reason (such as `Forbidden`; may be empty) and message. */
export function publicWords(status: number, reason: string, message: string): string {
  const named = /^[A-Za-z]{1,64}$/.test(reason) ? ` (${reason})` : "";
  const general = `the API server answers ${status}${named}`;
  if (message.length > MAX_CHARACTERS) return general;
  if (status === 403) {
    const [known, subject, attempt] = FORBIDDEN.exec(message) ?? [];
    if (known !== undefined && !TELLTALE.test(`${subject} ${attempt ?? ""}`.replace(/ path ".*/, "")))
      return attempt === undefined ? `${subject}` : `${subject}: the policy server cannot ${attempt}`;
  } else if (ABOUT_THE_QUESTION.has(status) && reason !== "") {
    if (NOT_FOUND.test(message) || isHarmless(message)) return message;
  }
  return general;
}

/** Whether nothing in a text looks like an address, an account or a file. */
export const isHarmless = (text: string): boolean => text.length <= MAX_CHARACTERS && !TELLTALE.test(text);
