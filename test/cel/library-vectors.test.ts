/** Expressions made at random for one library each, and what the reference makes of them. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createEnvironment } from "../../src/cel/index.js";
import { type CelLine, celLine } from "../../src/offline/cases/cel/cel-line.js";
import { readVariables } from "../../src/offline/cases/cel/variables.js";
import { inSteps } from "./support/in-steps.js";

const vectors = new URL("../../../test/vectors/cel/", import.meta.url);
const folder = new URL("libraries/", vectors);
const { bindings, ...declared } = await readVariables(fileURLToPath(new URL("variables.json", vectors)));
const environment = createEnvironment({ flavour: "kubernetes", ...declared });
const stepped = inSteps(environment, { count: 0 });

describe("every library gives the reference's values, errors and costs", () => {
  for (const file of readdirSync(folder)) {
    test(file, () => {
      for (const line of readFileSync(new URL(file, folder), "utf8").trimEnd().split("\n")) {
        const expected = JSON.parse(line) as CelLine;
        for (const how of [environment, stepped]) {
          assert.deepEqual(JSON.parse(JSON.stringify(celLine(how, bindings, expected.expr))), expected);
        }
      }
    });
  }
});
