import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { VERSION } from "../../src/data/version.js";

const file = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

test("the version that is told is that of the package and of the chart", () => {
  assert.equal(VERSION, (JSON.parse(file("package.json")) as { version: string }).version);
  assert.match(
    file("deploy/helm/policy-server/Chart.yaml"),
    new RegExp(`^appVersion: ${VERSION.replaceAll(".", "\\.")}$`, "m"),
  );
});
