import { errorText } from "../../data/error-text.js";

/** The API server has refused; the message is its own. */
export class ApiError extends Error {
  readonly code = "KUBERNETES_API";
  override readonly name = "ApiError";
  /**
   * @param status HTTP status, or the code of an error event of a watch
   * @param reason such as `NotFound`; may be empty
   */
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** There is no answer that can be used: no connection, time ran out, too much, no JSON. */
export class ClusterUnreachable extends Error {
  readonly code = "KUBERNETES_UNREACHABLE";
  override readonly name = "ClusterUnreachable";
}

/** The way to the cluster is not described, or wrongly; the message names the file. */
export class ClusterConfigError extends Error {
  readonly code = "KUBERNETES_CONFIG";
  override readonly name = "ClusterConfigError";
}

/** A guest asked for what cannot be; the message has the words of spec kubewarden.md 7.6. */
export class ResourceError extends Error {
  readonly code = "KUBERNETES_RESOURCE";
  override readonly name = "ResourceError";
}

/** The reason of any failure in one line. Never throws. */
export function reasonOf(error: unknown): string {
  const message = errorText(error);
  try {
    return error instanceof Error ? withCause(message || error.name, error.cause) : message;
  } catch {
    return message;
  }
}

/** Many messages already end in their cause's. */
const withCause = (message: string, cause: unknown): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;
