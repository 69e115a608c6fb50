/** What builtins are charged for, by the fuel that a call on the main thread has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCost } from "../../../../src/wasm/protocols/opa/builtins/cost.js";
import { INLINE_UNITS } from "../../../../src/wasm/run/main-thread/trial.js";

const TEXT = JSON.stringify("x".repeat(1_000));

test("builtins of usual size are a part of a short call", () => {
  const usual: [name: string, ...operands: string[]][] = [
    ["sprintf", '"%v has %d of %.2f"', '["p",3,1.5]'],
    ["regex.split", '"[a-z]+"', '"a-b-c"'],
    ["base64url.encode_no_pad", TEXT],
    ["time.now_ns"],
    ["time.clock", '[1257894000000000000,"Europe/Berlin"]'],
    ["strings.any_prefix_match", TEXT, '["docker.io/","quay.io/"]'],
  ];
  for (const [name, ...operands] of usual) assert.ok(builtinCost(name, operands) < INLINE_UNITS / 5, name);
});

test("builtins that may take long are more than a short call has", () => {
  const long: [name: string, ...operands: string[]][] = [
    ["sprintf", '"%1000000d"', "[1]"],
    ["sprintf", '"%*d"', "[1000000,1]"],
    ["regex.split", '"(a{1000}){1000}"', '"a"'],
    ["regex.find_n", JSON.stringify("(a|b)*".repeat(300)), TEXT, "-1"],
    ["json.patch", "{}", "[]"],
    ["yaml.unmarshal", '"a: 1"'],
    ["crypto.sha256", JSON.stringify("x".repeat(1_000_000))],
  ];
  for (const [name, ...operands] of long) assert.ok(builtinCost(name, operands) > INLINE_UNITS, name);
});

test("no builtin is charged for without end: a thread looks at its clock once a slice", () => {
  const huge = "x".repeat(10_000_000);
  for (const name of ["crypto.sha256", "regex.split", "time.date", "yaml.marshal"])
    assert.ok(builtinCost(name, [huge, huge]) <= 60_000_000, name);
});
