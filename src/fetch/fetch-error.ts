/** A module, image or signature could not be had. */

/** What was being done: it decides how a failure is worded. */
export type FetchStage = "download" | "verify" | "integrity";

/** The reason why, in one sentence that says where. */
export class FetchError extends Error {
  readonly code = "MODULE_FETCH";
  override readonly name = "FetchError";
  readonly stage: FetchStage;
  /** The HTTP status, when the failure is one. */
  readonly status: number | undefined;
  /** Nobody answered, or only that the server is in trouble: the same request may succeed later. */
  readonly transient: boolean;

  constructor(message: string, { stage = "download", status, unanswered = false, ...options }: FetchErrorOptions = {}) {
    super(message, options);
    this.stage = stage;
    this.status = status;
    this.transient = unanswered || (status !== undefined && status >= 500);
  }
}

interface FetchErrorOptions extends ErrorOptions {
  readonly stage?: FetchStage;
  readonly status?: number;
  /** No HTTP answer came. */
  readonly unanswered?: boolean;
}

/**
 * The failure as Kubewarden says it (spec kubewarden.md 1.4).
 * @param id the policy; a member as `<group>/#<member>`
 * @param module its address as configured
 */
export function fetchFailureText(id: string, module: string, error: FetchError): string {
  switch (error.stage) {
    case "verify":
      return `Policy '${id}' cannot be verified: ${error.message}`;
    case "integrity":
      return `Verification of policy ${id} failed: ${error.message}`;
    case "download":
      return `Error while downloading policy '${id}' from ${withoutSecrets(module)}: ${error.message}`;
  }
}

/** An address as clients of a policy may see it: without name and password, and without the query, which may be a token. */
export function withoutSecrets(address: string): string {
  return address.replace(/^(https?:\/\/)[^/?#]*@/i, "$1…@").replace(/^(https?:\/\/[^?#]*)[?#].*$/is, "$1?…");
}

/** The message of anything thrown, with the causes below it that add something. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === "" && "code" in error ? String(error.code) : error.message;
  const parts = error instanceof AggregateError ? error.errors.map(reasonOf) : [];
  const cause = error.cause === undefined ? "" : reasonOf(error.cause);
  return [own, ...parts, cause]
    .filter((part, index, all) => part !== "" && !all.slice(0, index).some((before) => before.includes(part)))
    .join(": ");
}
