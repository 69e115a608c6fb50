import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createServer } from "../../src/admission-policy/server.js";
import { validateCase } from "../../src/batch/validating-admission-policy/static-case.js";
import { createExpressionCompiler } from "../../src/kinds/validating-admission-policy/index.js";
import { text } from "../../src/kubernetes/object.js";
import { asWritten, readVectors, type Vector } from "../support/vap-vectors.js";

/** The version of the server that gave the answers. */
const server = createServer("1.36", createExpressionCompiler);

describe("what a real API server answers to odd metadata, status and texts", () => {
  const groups = new Map<string, Vector[]>();
  for (const each of readVectors("stored.jsonl")) {
    if (text(each.written.object, "kind").startsWith("Mutating")) continue;
    const group = each.id.split("/").slice(0, 2).join("/");
    groups.set(group, [...(groups.get(group) ?? []), each]);
  }
  for (const [name, cases] of groups) {
    test(name, () => {
      for (const { id, written, expected } of cases) {
        // The message holds every error.
        const { errors, ...answer } = asWritten(validateCase(written, server)) as { readonly errors?: unknown };
        assert.deepEqual(answer, expected, id);
      }
    });
  }
});
