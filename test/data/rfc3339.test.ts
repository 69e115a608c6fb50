import assert from "node:assert/strict";
import { test } from "node:test";
import { isRfc3339 } from "../../src/data/rfc3339.js";

test("a time is one that there is", () => {
  for (const time of [
    "2026-01-01T00:00:00Z",
    "2024-02-29T23:59:59.999999999+14:00",
    "0001-01-01T00:00:00Z",
    "2026-01-01T1:00:00,5-00:30",
  ]) {
    assert.equal(isRfc3339(time), true, time);
  }
  for (const none of [
    "",
    "2026-01-01",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00",
    "2025-02-29T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00+25:00",
    "2026-01-01t00:00:00z",
  ]) {
    assert.equal(isRfc3339(none), false, none);
  }
});
