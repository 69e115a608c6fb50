/** HTTP for Extism plugins, on the guest's thread: requests go to the main thread like host calls, and the call waits. */
import { errorText } from "../../../data/error-text.js";
import { parseJson, stringifyJson } from "../../../data/json.js";
import { isJsonObject } from "../../../data/same-value.js";
import { HTTP_CALL, type HttpAnswer } from "../../host/http/wire.js";
import type { GuestHost } from "../../run/guest/guest.js";

/** Units of fuel for a byte of JSON that is read and printed again. */
const READ_UNITS = 16;

/** The result of a request: an answer, or the reason why it has no body. */
export type PluginAnswer = { readonly body: Uint8Array } | { readonly problem: string };

/** The requests of one call. */
export class PluginHttp {
  /** Status of the last answer; 0: none. */
  status = 0;
  /** Headers of the last answer, as JSON, with names in lower case; empty before there is one. */
  headers = "";

  /**
   * Sends a request and waits for its answer.
   * @param request JSON: `url`, and `method` and `headers` if they are given
   * @throws Error for an invalid request, a forbidden one, and one without an answer; as in Extism, that ends the call
   */
  request(host: GuestHost, request: Uint8Array, body: Uint8Array | undefined): PluginAnswer {
    this.status = 0;
    this.headers = "";
    const { hostCallBytes } = host.limits;
    // Checked before the bytes are decoded.
    if (request.length + (body?.length ?? 0) > hostCallBytes)
      throw host.limitPassed(`the policy asked the host with more than ${hostCallBytes} bytes`);
    host.work(READ_UNITS * request.length + (body?.length ?? 0));
    const { binding, namespace, operation } = HTTP_CALL;
    const answer = host.call(binding, namespace, operation, Buffer.from(stringifyJson(questionOf(request, body))));
    if (!answer.ok) throw new Error(answer.error);
    const { status, headers, ...rest } = parseJson(new TextDecoder().decode(answer.payload)) as HttpAnswer;
    this.status = status;
    this.headers = stringifyJson(headers);
    return "body" in rest ? { body: Buffer.from(rest.body, "base64") } : rest;
  }
}

/** `header` is another name of `headers`: some kits write it so. Members are checked where they are used. */
function questionOf(request: Uint8Array, body: Uint8Array | undefined): Readonly<Record<string, unknown>> {
  let read: unknown;
  try {
    read = parseJson(new TextDecoder().decode(request));
  } catch (error) {
    throw new Error(`the HTTP request is not JSON: ${errorText(error)}`, { cause: error });
  }
  if (!isJsonObject(read)) throw new Error("the HTTP request is not a JSON object");
  const { url, method, headers, header } = read;
  return {
    ...(url !== undefined && { url }),
    ...(method !== undefined && { method }),
    ...((headers ?? header) !== undefined && { headers: headers ?? header }),
    ...(body !== undefined && { body: Buffer.from(body).toString("base64") }),
  };
}
