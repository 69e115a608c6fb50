import assert from "node:assert/strict";
import { test } from "node:test";
import { readTime } from "../../../src/kubernetes/go-types/go-time.js";

const errorOf = (text: string): string | undefined => {
  const time = readTime(text);
  return "error" in time ? time.error : undefined;
};

const LAYOUT = '"2006-01-02T15:04:05Z07:00"';

test("a time that Go reads has no error", () => {
  for (const time of [
    "2024-01-01T00:00:00Z",
    "2024-02-29T23:59:59.123456789123+14:00",
    "2024-01-01T0:00:00,5-00:30",
    "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00+23:60",
    "0000-01-01T00:00:00Z",
  ]) {
    assert.equal(errorOf(time), undefined, time);
  }
});

test("the part that cannot be read is named, with what is left", () => {
  const cases: readonly (readonly [text: string, rest: string, part: string])[] = [
    ["today", "today", "2006"],
    ["", "", "2006"],
    ["20240-01-01T00:00:00Z", "0-01-01T00:00:00Z", "-"],
    ["2024-1-01T00:00:00Z", "1-01T00:00:00Z", "01"],
    ["2024-01-01 00:00:00Z", " 00:00:00Z", "T"],
    ["2024-01-01T0", "", ":"],
    ["2024-01-01T00:00:00.Z", ".Z", "Z07:00"],
    ["2024-01-01T00:00:00z", "z", "Z07:00"],
  ];
  for (const [text, rest, part] of cases) {
    assert.equal(errorOf(text), `parsing time "${text}" as ${LAYOUT}: cannot parse "${rest}" as "${part}"`);
  }
});

test("what is out of its range is said, and what follows a time", () => {
  const cases: readonly (readonly [text: string, problem: string])[] = [
    ["2024-13-01T00:00:00Z", "month out of range"],
    ["2023-02-29T00:00:00Z", "day out of range"],
    ["2024-01-00T00:00:00Z", "day out of range"],
    ["2024-01-01T24:00:00Z", "hour out of range"],
    ["2024-01-01T00:60:00Z", "minute out of range"],
    ["2024-01-01T00:00:60Z", "second out of range"],
    ["2024-01-01T00:00:00+25:00", "time zone offset hour out of range"],
    ["2024-01-01T00:00:00+00:61", "time zone offset minute out of range"],
    ["2024-01-01T00:00:00Zx", 'extra text: "x"'],
  ];
  for (const [text, problem] of cases) assert.equal(errorOf(text), `parsing time "${text}": ${problem}`);
});

test("texts are quoted by their bytes", () => {
  assert.match(errorOf('é\n"\\') ?? "", /^parsing time "\\xc3\\xa9\\x0a\\"\\\\" as /);
});
