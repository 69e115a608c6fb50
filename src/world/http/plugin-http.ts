/** HTTP for Extism plugins, over the client of other policies: with the same block list, and the same limits on redirects and time. */
import type { IncomingHttpHeaders } from "node:http";
import { PublicError } from "../../data/public-text.js";
import { BodyTooLarge, type GuardedClient } from "./guarded-client.js";

/** A plugin's request, checked; see `host-capabilities/http`. */
export interface PluginRequest {
  readonly method: string;
  readonly url: string;
  readonly shownUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly permits: (url: URL) => boolean;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The answer to a plugin. */
export interface PluginReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it is too large. */
  readonly body: Uint8Array | undefined;
}

/** A header that plugins cannot set: they get the body as it is sent, and it is not unpacked here. */
const ENCODING = /^accept-encoding$/i;

/** Makes the function for plugins' requests. It rejects with an HttpFailure. */
export const pluginHttp =
  (client: GuardedClient) =>
  async ({ method, url, headers, body, shownUrl, permits, maxBytes, signal }: PluginRequest): Promise<PluginReply> => {
    const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !ENCODING.test(name)));
    const options = { maxBytes, shown: shownUrl, permits, signal };
    try {
      const reply = await client.request({ method, url, headers: sent, body, ca: "" }, options);
      return { status: reply.status, headers: textsOf(reply.headers), body: reply.body };
    } catch (error) {
      if (error instanceof BodyTooLarge)
        return { status: error.reply.status, headers: textsOf(error.reply.headers), body: undefined };
      if (signal.aborted) throw new PublicError("the caller no longer waits for the answer", { cause: error });
      throw error;
    }
  };

/** The headers as fetch gives them: several values are one text. */
const textsOf = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
