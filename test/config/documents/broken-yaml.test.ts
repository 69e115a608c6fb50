import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseResources, salvageConfiguration } from "../../../src/config/documents/source-document.js";

const places = (problems: readonly { line: number; column: number }[] = []) =>
  problems.map(({ line, column }) => `${line}:${column}`);

describe("a configuration that is no YAML", () => {
  test("is read without the entries that are none, and all of them are told", () => {
    const text = 'a: { x: 1\nb:\n  z: 2\n"c d": "open\ne: {}\n';
    const salvaged = salvageConfiguration(text, "p.yaml");
    assert.deepEqual(places(salvaged?.problems), ["1:4", "4:8"]);
    assert.deepEqual(salvaged?.broken, ["a", "c d"]);
    assert.deepEqual(salvaged?.document?.value, { b: { z: 2 }, e: {} });
    assert.deepEqual(salvaged?.document?.positionOf(["b", "z"]), { file: "p.yaml", line: 3, column: 6 });
  });

  test("counts lines however they end", () => {
    const salvaged = salvageConfiguration("a:\r\n  x: 1\r\nb: [\r\nc: 1\r\n", "p.yaml");
    assert.deepEqual(places(salvaged?.problems), ["3:4"]);
    assert.deepEqual(salvaged?.document?.value, { a: { x: 1 }, c: 1 });
  });

  test("is left alone where that would not be sound: anchors, and nothing that is broken by itself", () => {
    assert.equal(salvageConfiguration("a: &x { b: 1\nc: *x\n", "p.yaml"), undefined);
    assert.equal(salvageConfiguration("{ a: 1, b }\n]", "p.yaml"), undefined);
    assert.equal(salvageConfiguration("a: 1\nb: 2\n", "p.yaml"), undefined);
  });

  test("has a bound on what is told", () => {
    const text = Array.from({ length: 21 }, (_, index) => `k${index}: [\n`).join("");
    assert.equal(salvageConfiguration(text, "p.yaml"), undefined);
  });
});

describe("resources of which some are no YAML", () => {
  test("are told all", () => {
    const { problems, documents } = parseResources("a: [\n---\nb: 1\n---\nc: {\n---\nd: 'x\n", "r.yaml");
    assert.deepEqual(documents, []);
    assert.deepEqual(places(problems), ["1:4", "5:4", "7:4"]);
    assert.ok(problems.every(({ code }) => code === "YAML_SYNTAX"));
  });

  test("are told as far as they are read when they are JSON", () => {
    assert.equal(parseResources('{"a": 1}\n{"b": \n---\n{', "r.json").problems.length, 1);
  });
});
