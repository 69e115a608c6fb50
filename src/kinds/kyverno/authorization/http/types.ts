/** The types of HTTP mode: the request and the answer (spec kyverno.md 6.3). */
import { BYTES, INT, listType, mapType, objectType, STRING } from "../../../../cel/index.js";
import { MCP, MCP_TYPES } from "../mcp/types.js";
import { MessageTypes } from "../message.js";

const LISTS_OF_TEXTS = mapType(STRING, listType(STRING));

/** The names of the types. */
export const HTTP = {
  request: "http.CheckRequest",
  attributes: "http.CheckRequestAttributes",
  response: "http.CheckResponse",
  ok: "http.CheckResponseOk",
  denied: "http.CheckResponseDenied",
  mcp: "http.MCPCheckData",
} as const;

/** The types. */
export const HTTP_TYPES = new MessageTypes(
  {
    [HTTP.request]: { attributes: objectType(HTTP.attributes), mcp: objectType(HTTP.mcp) },
    // Filled by a server from the body; the command line has none, and leaves it empty.
    [HTTP.mcp]: { request: objectType(MCP.request) },
    [HTTP.attributes]: {
      method: STRING,
      header: LISTS_OF_TEXTS,
      host: STRING,
      protocol: STRING,
      contentLength: INT,
      body: BYTES,
      scheme: STRING,
      path: STRING,
      query: LISTS_OF_TEXTS,
      fragment: STRING,
    },
    [HTTP.response]: { ok: objectType(HTTP.ok), denied: objectType(HTTP.denied) },
    [HTTP.ok]: {},
    [HTTP.denied]: { reason: STRING },
  },
  "present",
  [MCP_TYPES],
);
