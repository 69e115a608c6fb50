/** Reads the client's answer: an AdmissionReview, its `response`, or the answer to a raw request. */

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function statusOf(response: unknown): unknown {
  return field(field(response, "response") ?? response, "status");
}

/** The code of a denial. */
export function codeOf(response: unknown): number | undefined {
  const code = field(statusOf(response), "code");
  return typeof code === "number" ? code : undefined;
}

/** The message to the client. */
export function messageOf(response: unknown): string | undefined {
  const message = field(statusOf(response), "message");
  return typeof message === "string" && message !== "" ? message : undefined;
}
