/** `mcp.…`: requests of the Model Context Protocol in the body of a request (spec kyverno.md 6.3). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { shown } from "./authorized.js";

const ask = (expression: string, method: string, params: unknown): Promise<string> => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })).toString("base64");
  return shown(expression.replaceAll("PARSED", "mcp.Parse(string(object.attributes.body))"), { body });
};
const get = (call: string, args: unknown): Promise<string> =>
  ask(`string(PARSED.${call})`, "tools/call", { name: "echo", arguments: args });

describe("a request of the Model Context Protocol", () => {
  test("has a method, for which there are constants", async () => {
    assert.equal(await ask("string(PARSED.Method == mcp.ToolsCallMethod)", "tools/call", {}), "true");
    assert.equal(await ask("PARSED.ToolCall.Name", "tools/call", { name: "echo" }), "echo");
    assert.equal(await shown("object.mcp.request.Method"), "");
  });

  test("has arguments, with a value in place of those that are of another type", async () => {
    assert.equal(await get('GetStringArgument("a", "d")', { a: "b" }), "b");
    assert.equal(await get('GetStringArgument("a", "d")', { a: 1 }), "d");
    assert.equal(await get('GetStringArgument("constructor", "d")', {}), "d");
    assert.equal(await get('GetIntArgument("a", 7)', { a: 2.9 }), "2");
    assert.equal(await get('GetIntArgument("a", 7)', { a: "3" }), "3");
    assert.equal(await get('GetIntArgument("a", 7)', { a: "x" }), "7");
    assert.equal(await get('GetFloatArgument("a", 7.5)', { a: "2.5" }), "2.5");
    assert.equal(await get('GetBoolArgument("a", false)', { a: "T" }), "true");
    assert.equal(await get('GetBoolArgument("a", true)', { a: 0 }), "false");
    assert.equal(await get('GetStringSliceArgument("a", []).join(",")', { a: ["x", 1, "y"] }), "x,y");
    assert.equal(await get('GetIntSliceArgument("a", [9]) == [1, 2]', { a: [1, "2", null] }), "true");
    assert.equal(await get('GetBoolSliceArgument("a", [true]) == [true]', { a: "x" }), "true");
  });

  test("has those of resources and prompts, too", async () => {
    const call = 'PARSED.GetStringArgument("a", "d")';
    assert.equal(await ask(call, "resources/read", { uri: "u", arguments: { a: "b" } }), "b");
    assert.equal(await ask(call, "prompts/get", { name: "n", arguments: { a: "b" } }), "b");
    assert.match(await ask(call, "prompts/get", { name: "n", arguments: { a: 1 } }), /^error: /);
  });

  test("is none in a body of another kind", async () => {
    assert.match(await shown('mcp.Parse("no").Method'), /^error: /);
    assert.match(await shown('mcp.Parse("[]").Method'), /^error: /);
  });
});
