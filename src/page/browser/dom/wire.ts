import type {
  CheckAnswer,
  CheckQuestion,
  EvaluateAnswer,
  EvaluateQuestion,
  PageRefusal,
  PageState,
} from "../../api.js";

/** Time limit of a question: more than any policy may take. In milliseconds. */
const PATIENCE = 60_000;

/** The error of a question that the server refuses. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The error of a server that does not answer. */
export class Unreachable extends Error {}

/** Texts for statuses, for a server, or a proxy before it, that sends none. */
const MEANINGS: ReadonlyMap<number, string> = new Map([
  [
    403,
    "The server does not do this for this page: it only shows what is served, or the page was opened under another name.",
  ],
  [413, "This is larger than the server takes."],
  [429, "The server has too much to do. Try again in a moment."],
  [503, "The server is starting or stopping. Try again in a moment."],
]);

function isRefusal(body: unknown): body is PageRefusal {
  return typeof body === "object" && body !== null && "error" in body && typeof body.error === "string";
}

async function answerOf<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`page/${path}`, { ...init, credentials: "same-origin" });
  } catch (cause) {
    throw new Unreachable("The server does not answer.", { cause });
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  const meaning = MEANINGS.get(response.status) ?? `The server answered with status ${response.status}.`;
  throw new Refused(response.status, isRefusal(body) ? body.error : meaning);
}

function post<T>(path: string, question: unknown, signal: AbortSignal): Promise<T> {
  return answerOf<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(question),
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
  });
}

/** Asks for the state. */
export function askState(): Promise<PageState> {
  return answerOf<PageState>("state", { cache: "no-cache", signal: AbortSignal.timeout(PATIENCE) });
}

/** Asks for the problems of a draft. */
export function askCheck(question: CheckQuestion, signal: AbortSignal): Promise<CheckAnswer> {
  return post<CheckAnswer>("check", question, signal);
}

/** Asks for the evaluation of a payload by a draft or a served policy. */
export function askEvaluate(question: EvaluateQuestion, signal: AbortSignal): Promise<EvaluateAnswer> {
  return post<EvaluateAnswer>("evaluate", question, signal);
}
