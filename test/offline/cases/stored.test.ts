import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createServer } from "../../../src/kinds/admission-policy/server.js";
import { createMutationCompilers } from "../../../src/kinds/mutating-admission-policy/compilers.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import { type JsonObject, text } from "../../../src/kubernetes/object.js";
import type { StaticResult } from "../../../src/offline/cases/admission-policy/static-result.js";
import { validateMutatingCase } from "../../../src/offline/cases/mutating-admission-policy/static-case.js";
import { validateCase } from "../../../src/offline/cases/validating-admission-policy/static-case.js";
import { asWritten, readVectors, type Vector } from "../../support/vap-vectors.js";

/** The version of the server that gave the answers. */
const VERSION = "1.36";
const server = createServer(VERSION, createExpressionCompiler);
const mutating = createServer(VERSION, createMutationCompilers);
const validate = (written: JsonObject): StaticResult =>
  text(written.object, "kind").startsWith("Mutating")
    ? validateMutatingCase(written, mutating)
    : validateCase(written, server);

describe("what a real API server answers to odd metadata, status and texts", () => {
  const groups = new Map<string, Vector[]>();
  for (const each of readVectors("stored.jsonl")) {
    const group = each.id.split("/").slice(0, 2).join("/");
    groups.set(group, [...(groups.get(group) ?? []), each]);
  }
  for (const [name, cases] of groups) {
    test(name, () => {
      for (const { id, written, expected } of cases) {
        // The message holds every error.
        const { errors, ...answer } = asWritten(validate(written)) as { readonly errors?: unknown };
        assert.deepEqual(answer, expected, id);
      }
    });
  }
});
