import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { functionsByName, libraries } from "../../src/cel/libraries.js";
import type { Type } from "../../src/cel/types.js";
import { KUBERNETES_VERSIONS, type KubernetesVersion } from "../../src/data/kubernetes-version.js";

const vector = (name: string): string =>
  readFileSync(new URL(`../../../test/vectors/cel/${name}`, import.meta.url), "utf8");

interface Line {
  readonly function?: string;
  readonly overload: string;
  readonly member: boolean;
  readonly arguments: readonly string[];
  readonly result: string;
  readonly since: string;
}

const read = (name: string): Line[] =>
  vector(name)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.function !== undefined);
const lines = read("functions-by-version.jsonl");
const newest = read("../kubernetes-1.38/functions.jsonl");

/** A type in the notation of the vector. */
function show(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${show(type.element)})`;
    case "map":
      return `map(${show(type.key)}, ${show(type.value)})`;
    case "opaque":
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(show).join(", ")})`;
    case "type":
      return type.of === undefined ? "type" : `type(${show(type.of)})`;
    case "param":
      return `<${type.name}>`;
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    default:
      return type.kind;
  }
}

describe("the libraries of a Kubernetes environment", () => {
  // Of 1.27 there are no vectors.
  for (const version of KUBERNETES_VERSIONS.slice(1)) {
    const minor = Number(version.slice(2));
    test(`declare the overloads of ${version} and no others`, () => {
      const ours = [...functionsByName(libraries("kubernetes", version)).values()].flatMap(({ name, overloads }) =>
        overloads.map(({ id, member, params, result }) =>
          JSON.stringify([name, id, member, params.map(show), show(result)]),
        ),
      );
      const known = version === "1.38" ? newest : lines.filter((line) => Number(line.since.slice(2)) <= minor);
      const theirs = known.map((line) =>
        JSON.stringify([line.function, line.overload, line.member, line.arguments, line.result]),
      );
      assert.deepEqual(ours.sort(), theirs.sort());
    });
  }

  test("list the overloads of a function in the reference's order, which decides what a call's type is", () => {
    const functions = functionsByName(libraries("kubernetes"));
    const expected = JSON.parse(vector("overload-order.json")) as Record<string, readonly string[]>;
    for (const [name, ids] of Object.entries(expected)) {
      assert.deepEqual(
        functions.get(name)?.overloads.map(({ id }) => id),
        ids,
        name,
      );
    }
  });

  test("do not repeat a type name, and have net.IP from 1.30", () => {
    const names = (version: KubernetesVersion) =>
      libraries("kubernetes", version).flatMap(({ typeNames }) => [...(typeNames?.keys() ?? [])]);
    assert.equal(new Set(names("1.37")).size, names("1.37").length);
    assert.ok(names("1.30").includes("net.IP"));
    assert.ok(!names("1.29").includes("net.IP"));
  });
});

describe("the libraries outside Kubernetes", () => {
  test("declare everything that Kubernetes has, and math, encoders, regex and string reverse besides", () => {
    const functions = functionsByName(libraries("standard"));
    for (const name of functionsByName(libraries("kubernetes")).keys()) assert.ok(functions.has(name), name);
    for (const name of ["math.@min", "math.ceil", "base64.encode", "regex.extract"])
      assert.ok(functions.has(name), name);
    assert.deepEqual(
      functions.get("reverse")?.overloads.map(({ id }) => id),
      ["string_reverse", "list_reverse"],
    );
  });
});
