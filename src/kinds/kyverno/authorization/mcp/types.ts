/** Requests of the Model Context Protocol, as far as policies read them (spec kyverno.md 6.3). */
import { DYN, mapType, objectType, opaqueType, STRING } from "../../../../cel/index.js";
import { MessageTypes } from "../message.js";

/** The type of the variable `mcp`. */
export const MCP_HELPER_TYPE = opaqueType("mcp.MCP");

/** The names of the types. */
export const MCP = {
  request: "mcp.MCPRequest",
  toolCall: "mcp.CallToolParams",
  resourceRead: "mcp.ReadResourceParams",
  promptGet: "mcp.GetPromptParams",
} as const;

/** The types. */
export const MCP_TYPES = new MessageTypes(
  {
    [MCP.request]: {
      Method: STRING,
      ToolCall: objectType(MCP.toolCall),
      ResourceRead: objectType(MCP.resourceRead),
      PromptGet: objectType(MCP.promptGet),
    },
    [MCP.toolCall]: { Name: STRING, Arguments: DYN },
    [MCP.resourceRead]: { URI: STRING, Arguments: mapType(STRING, DYN) },
    [MCP.promptGet]: { Name: STRING, Arguments: mapType(STRING, STRING) },
  },
  "present",
);

/** Methods, as the constants `mcp.…`. */
export const MCP_CONSTANTS: Readonly<Record<string, string>> = {
  "mcp.InitializeMethod": "initialize",
  "mcp.PingMethod": "ping",
  "mcp.ResourcesListMethod": "resources/list",
  "mcp.ResourcesTemplatesListMethod": "resources/templates/list",
  "mcp.ResourcesReadMethod": "resources/read",
  "mcp.PromptsListMethod": "prompts/list",
  "mcp.PromptsGetMethod": "prompts/get",
  "mcp.ToolsListMethod": "tools/list",
  "mcp.ToolsCallMethod": "tools/call",
  "mcp.SetLogLevelMethod": "logging/setLevel",
  "mcp.ElicitationCreateMethod": "elicitation/create",
};
