import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CelError } from "../../../src/cel/values/cel-error.js";
import { TimeZones } from "../../../src/cel/values/time-zones.js";

const zones = new TimeZones();
const offset = (name: string, seconds: number): number | string => {
  const zone = zones.zone(name);
  return zone instanceof CelError ? zone.message : zone(seconds);
};

describe("time zones", () => {
  test("have summer time, and local mean time with its seconds", () => {
    assert.equal(offset("America/New_York", 1_720_000_000), -4 * 3600);
    assert.equal(offset("America/New_York", 1_704_000_000), -5 * 3600);
    assert.equal(offset("America/New_York", -5_000_000_000), -(4 * 3600 + 56 * 60 + 2));
  });

  test("that merged in 1970 keep their own history before", () => {
    assert.equal(offset("Africa/Accra", -800_000_000), 1800);
    assert.equal(offset("Europe/Amsterdam", -5_000_000_000), 1172);
    assert.equal(offset("Africa/Accra", 0), 0);
  });

  test("are found by their exact spelling only", () => {
    for (const name of ["", "UTC", "Factory"]) assert.equal(offset(name, 0), 0);
    assert.equal(offset("america/new_york", 0), "unknown time zone america/new_york");
    assert.equal(offset("Mars/Base", 0), "unknown time zone Mars/Base");
    for (const name of ["../x", "/etc", "\\x", "a..b"]) assert.equal(offset(name, 0), "time: invalid location name");
  });

  test("may be given as an offset, which may be absurd", () => {
    assert.equal(offset("+05:30", 0), 19_800);
    assert.equal(offset("-00:30", 0), -1800);
    assert.equal(offset("1:5", 0), 3900);
    assert.equal(offset("+99:99", 0), 99 * 3600 + 99 * 60);
    assert.equal(offset("a:1", 0), 'strconv.Atoi: parsing "a": invalid syntax');
    assert.equal(offset(":1", 0), 'strconv.Atoi: parsing "": invalid syntax');
    assert.equal(
      offset("99999999999999999999:0", 0),
      'strconv.Atoi: parsing "99999999999999999999": value out of range',
    );
  });
});
