import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { testsSchema } from "../../../src/cli/test/json-schema.js";

const validate = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }).compile(testsSchema());
const policies = fileURLToPath(new URL("../../../../policies", import.meta.url));

test("the schema of test files accepts those of the example policies", () => {
  const files = readdirSync(policies, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.yaml"),
  );
  assert.ok(files.length > 4);
  for (const name of files)
    assert.ok(
      validate(parse(readFileSync(join(policies, name), "utf8"))),
      `${name}: ${JSON.stringify(validate.errors)}`,
    );
});

test("the schema of test files finds misspelt keys, unknown expectations, and cases that expect nothing", () => {
  for (const file of [
    {},
    { policy: "a", case: [] },
    { policy: "a", cases: [{ object: {}, expct: "allow" }] },
    { policy: "a", cases: [{ object: {}, expect: "alow" }] },
    { policy: "a", cases: [{ object: {} }] },
    { module: 1, cases: [] },
  ])
    assert.equal(validate(file), false, JSON.stringify(file));
});
