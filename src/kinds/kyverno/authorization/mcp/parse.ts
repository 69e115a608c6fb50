/** `mcp.Parse`: a request of the Model Context Protocol out of its JSON (spec kyverno.md 6.3). */
import { CelError, type Result, type Value } from "../../../../cel/index.js";
import { isObject, type JsonObject } from "../../../../kubernetes/object.js";
import { JSON_FUNCTIONS } from "../../libraries/json.js";
import { MCP, MCP_TYPES } from "./types.js";

/** Reads JSON within the limits of `json.unmarshal`; numbers are doubles. */
const unmarshal = JSON_FUNCTIONS.find(({ name }) => name === "unmarshal")?.overloads[0]?.implementation;

/** Reads the request; parameters of the wrong type are errors. */
export function parseMcp(helper: Value, text: Value): Result {
  const value = unmarshal?.(helper, text) ?? null;
  if (value instanceof CelError) return value;
  if (!isObject(value)) return unfit("the request", "an object");
  const { method: Method = "", params = {} } = value;
  if (typeof Method !== "string") return unfit("method", "a string");
  if (params !== null && !isObject(params)) return unfit("params", "an object");
  const parameters = paramsOf(Method, params ?? {});
  return parameters instanceof CelError ? parameters : MCP_TYPES.make(MCP.request, { Method, ...parameters });
}

function paramsOf(method: string, params: JsonObject): Readonly<Record<string, Value>> | CelError {
  const { name: Name = "", uri: URI = "", arguments: given = null } = params;
  if (typeof Name !== "string" || typeof URI !== "string") return unfit("name and uri", "strings");
  const Arguments = given as Value;
  const some = Arguments === null ? {} : { Arguments };
  switch (method) {
    case "tools/call":
      return { ToolCall: MCP_TYPES.make(MCP.toolCall, { Name, ...some }) };
    case "resources/read":
      if (given !== null && !isObject(given)) return unfit("arguments", "an object");
      return { ResourceRead: MCP_TYPES.make(MCP.resourceRead, { URI, ...some }) };
    case "prompts/get":
      if (given !== null && !(isObject(given) && Object.values(given).every((each) => typeof each === "string")))
        return unfit("arguments", "an object of strings");
      return { PromptGet: MCP_TYPES.make(MCP.promptGet, { Name, ...some }) };
    default:
      return {};
  }
}

const unfit = (what: string, wanted: string): CelError => new CelError(`json: ${what} must be ${wanted}`);
