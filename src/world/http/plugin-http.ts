/** HTTP for Extism plugins, over the client that other policies ask with: the same block list, the same limits on redirects and time. */
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

/** What it came to. */
export interface PluginReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it is too large. */
  readonly body: Uint8Array | undefined;
}

/** Not the plugin's to say: it gets the body as it is sent, and nobody here unpacks one. */
const ENCODING = /^accept-encoding$/i;

/** Makes the way for plugins' requests. Rejects with an HttpFailure. */
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
      if (signal.aborted) throw new PublicError("nobody waits for the answer any more", { cause: error });
      throw error;
    }
  };

/** As fetch has them: several values are one text. */
const textsOf = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
