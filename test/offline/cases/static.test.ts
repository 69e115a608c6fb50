import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { NEWEST_VERSION } from "../../../src/cel/index.js";
import { createServer } from "../../../src/kinds/admission-policy/server.js";
import { bundledSchemas } from "../../../src/kinds/shared/index.js";
import { SchemaSource } from "../../../src/kinds/shared/type-check/schema-source.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import type { PolicyResource } from "../../../src/kinds/validating-admission-policy/resource.js";
import { typeCheck } from "../../../src/kinds/validating-admission-policy/type-check.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { validateCase } from "../../../src/offline/cases/validating-admission-policy/static-case.js";
import { asWritten, readVectors, vectorFile } from "../../support/vap-vectors.js";

const server = createServer(NEWEST_VERSION, createExpressionCompiler);

describe("what the API server says when a policy or binding is written", () => {
  for (const { id, written, expected } of readVectors("static.jsonl")) {
    test(id, () => {
      assert.deepEqual(asWritten(validateCase(written, server)), expected);
    });
  }
});

describe("what type checking puts into the status", () => {
  const openapi = JSON.parse(readFileSync(vectorFile("typecheck-schemas.json"), "utf8")) as JsonObject;
  const sources = { "the server's own": new SchemaSource(openapi), bundled: bundledSchemas()() };
  for (const { id, written, expected } of readVectors("typecheck.jsonl")) {
    test(id, () => {
      const { spec } = written.object as unknown as PolicyResource;
      for (const [name, schemas] of Object.entries(sources)) {
        assert.deepEqual(asWritten(typeCheck(spec, schemas)), expected, name);
      }
    });
  }
});
