import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CelError } from "../../../src/cel/values/cel-error.js";
import { readTimeZoneData } from "../../../src/cel/values/time-zone-data.js";
import { TimeZones } from "../../../src/cel/values/time-zones.js";

interface DataFile {
  readonly sha256: string;
  readonly names: string;
  readonly early: Readonly<Record<string, readonly number[]>>;
}

const file = new URL("../../../../data/time-zones.json", import.meta.url);
const { sha256, names, early } = JSON.parse(readFileSync(file, "utf8")) as DataFile;
const data = readTimeZoneData();

describe("the data of time zones", () => {
  test("is as scripts/generate-zones.mjs left it", () => {
    const content = JSON.stringify({ names, early });
    assert.equal(createHash("sha256").update(content).digest("hex"), sha256);
  });

  test("is about zones that there are, each with its changes in order", () => {
    assert.equal(data.names.size, 598);
    assert.equal(data.early.size, 95);
    for (const [name, { transitions }] of data.early) {
      assert.ok(data.names.has(name), name);
      const times = transitions.map(([from]) => from);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
        name,
      );
      assert.ok(times.length > 0 && times.at(-1)! < 0, name);
    }
  });

  test("leads up to where this Node's own data agrees", () => {
    const zones = new TimeZones();
    for (const [name, { transitions }] of data.early) {
      const [end, offset] = transitions.at(-1)!;
      const zone = zones.zone(name);
      assert.ok(typeof zone === "function", name);
      assert.equal(zone(end), offset, name);
    }
  });

  test("has only names that this Node knows, but for the youngest where it is old", () => {
    const zones = new TimeZones();
    const unknown = [...data.names].filter((name) => typeof zones.zone(name) !== "function");
    assert.deepEqual(unknown, process.version.startsWith("v20.17.") ? ["America/Coyhaique"] : []);
  });

  test("a zone that is younger than this Node's data is unknown, as to anybody with older data", (context) => {
    context.mock.method(Intl, "DateTimeFormat", () => {
      throw new RangeError("Invalid time zone specified");
    });
    const zone = new TimeZones().zone("Europe/Paris");
    assert.ok(zone instanceof CelError);
    assert.equal(zone.message, "unknown time zone Europe/Paris");
  });
});
