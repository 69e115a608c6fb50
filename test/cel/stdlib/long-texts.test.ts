/** Texts of megabytes are read, or refused, in time linear in their length. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEnvironment } from "../../../src/cel/index.js";
import { STRING } from "../../../src/cel/types.js";

const environment = createEnvironment({ flavour: "kubernetes", variables: [{ name: "text", type: STRING }] });

/** What is read in a hundredth of this; with the square of the length it is minutes. */
const MOST_MS = 3_000;

const TEXTS: readonly string[] = [
  `${"1".repeat(300_000)}x`,
  `${"0".repeat(300_000)}x`,
  `0x${"1".repeat(300_000)}`,
  `1.${"1".repeat(300_000)}x`,
  "9".repeat(1_000_000),
  "1.".repeat(300_000),
  ":".repeat(300_000),
  "1h".repeat(300_000),
  `1.2.3-${"a.".repeat(300_000)}`,
  `https://${"[%".repeat(150_000)}@h:1/`,
  "\u0001".repeat(300_000),
];

for (const call of [
  ...["int(text)", "uint(text)", "double(text)", "bool(text)", "duration(text)", "timestamp(text)", "bytes(text)"],
  ...[
    "quantity(text)",
    "isQuantity(text)",
    "semver(text)",
    "isSemver(text)",
    "semver(text, true)",
    "url(text)",
    "isURL(text)",
  ],
  ...["ip(text)", "isIP(text)", "cidr(text)", "isCIDR(text)", "format.uri().validate(text)"],
  ...["format.dns1123Subdomain().validate(text)", "format.qualifiedName().validate(text)"],
]) {
  test(call, () => {
    const compiled = environment.compile(call);
    assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
    for (const text of TEXTS) {
      const start = process.cpuUsage();
      compiled.program.evaluate({ text });
      const { user, system } = process.cpuUsage(start);
      assert.ok((user + system) / 1_000 < MOST_MS, `${text.slice(0, 20)} took ${(user + system) / 1_000} ms`);
    }
  });
}
