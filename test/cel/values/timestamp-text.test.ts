import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { civilFromDays, dayOfWeek, daysFromCivil } from "../../../src/cel/values/calendar.js";
import type { Timestamp } from "../../../src/cel/values/time.js";
import { parseTimestamp, timestampText } from "../../../src/cel/values/timestamp-text.js";

describe("reading a timestamp", () => {
  const printed: readonly (readonly [string, string])[] = [
    ["2020-01-01T0:00:00,5Z", "2020-01-01T00:00:00.5Z"],
    ["2020-01-01T00:00:00+05:60", "2020-01-01T00:00:00+06:00"],
    ["2020-01-01T00:00:00.120+05:30", "2020-01-01T00:00:00.12+05:30"],
    ["2020-01-01T00:00:00-00:00", "2020-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59.999999999999Z", "9999-12-31T23:59:59.999999999Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["2024-02-29T12:00:00+24:00", "2024-02-29T12:00:00+24:00"],
  ];
  for (const [text, result] of printed) {
    test(text, () => assert.equal(timestampText(parseTimestamp(text) as Timestamp), result));
  }

  const refused = [
    "2020-01-01t00:00:00Z",
    "2020-01-01T00:00:00z",
    "2020-01-01T24:00:00Z",
    "2020-01-01T00:00:60Z",
    "2020-02-30T00:00:00Z",
    "2020-01-01T00:00:00",
    "2020-01-01T00:00:00+25:00",
    "2020-01-01T00:00:00+05:61",
    "2020-1-01T00:00:00Z",
    "",
  ];
  for (const text of refused) test(`not ${JSON.stringify(text)}`, () => assert.equal(parseTimestamp(text), undefined));

  test("outside the years 1 to 9999 it is out of range", () => {
    assert.equal(parseTimestamp("0000-12-31T23:59:59Z"), "range");
    assert.equal(parseTimestamp("0001-01-01T00:00:00+00:01"), "range");
    assert.equal(parseTimestamp("9999-12-31T23:59:59-00:01"), "range");
  });
});

describe("the calendar", () => {
  test("goes from days to dates and back", () => {
    for (let days = -719_500; days < 2_932_900; days += 367) {
      const { year, month, day } = civilFromDays(days);
      assert.equal(daysFromCivil(year, month, day), days);
      assert.equal(dayOfWeek(days), new Date(days * 86_400_000).getUTCDay());
      assert.equal(month, new Date(days * 86_400_000).getUTCMonth() + 1);
    }
  });
});
