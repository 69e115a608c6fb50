import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expiredText, expiryOf, isUnreadable } from "../../../src/kinds/kyverno/expiry.js";
import type { ExceptionResource } from "../../../src/kinds/kyverno/index.js";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const TTL = "cleanup.kyverno.io/ttl";

const exception = (expiresAt?: string, ttl?: string, created?: string) =>
  ({
    apiVersion: "policies.kyverno.io/v1",
    kind: "PolicyException",
    metadata: {
      name: "e",
      namespace: "ns",
      ...(created !== undefined && { creationTimestamp: created }),
      ...(ttl !== undefined && { labels: { [TTL]: ttl } }),
    },
    spec: { ...(expiresAt !== undefined && { expiresAt }) },
  }) as ExceptionResource;

function endOf(...given: Parameters<typeof exception>): string {
  const expiry = expiryOf(exception(...given));
  if (isUnreadable(expiry)) return "unreadable";
  return Number.isFinite(expiry.at) ? new Date(expiry.at).toISOString().replace(".000Z", "Z") : "never";
}

describe("an exception ends", () => {
  for (const [expiresAt, ttl, created, end] of [
    [undefined, undefined, undefined, "never"],
    ["2026-01-01T00:00:00Z", undefined, undefined, "2026-01-01T00:00:00Z"],
    ["2026-01-01T01:00:00+01:00", undefined, undefined, "2026-01-01T00:00:00Z"],
    ["2026-01-01T1:00:00,000Z", undefined, undefined, "2026-01-01T01:00:00Z"],
    [undefined, "2026-01-01", undefined, "2026-01-01T00:00:00Z"],
    [undefined, "2026-01-01T133000Z", undefined, "2026-01-01T13:30:00Z"],
    [undefined, "36h", "2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z"],
    [undefined, "1h30m", "2026-01-01T00:00:00Z", "2026-01-01T01:30:00Z"],
    [undefined, "10d", "2026-01-01T00:00:00Z", "2026-01-11T00:00:00Z"],
    [undefined, "2weeks", "2026-01-01T00:00:00Z", "2026-01-15T00:00:00Z"],
    // In a file it has yet to begin.
    [undefined, "36h", undefined, "never"],
    ["2026-03-01T00:00:00Z", "2026-02-01", undefined, "2026-02-01T00:00:00Z"],
    ["2026-01-01T00:00:00Z", "2026-02-01", undefined, "2026-01-01T00:00:00Z"],
  ] as const) {
    test(`${expiresAt} ${ttl} ${created}: ${end}`, () => assert.equal(endOf(expiresAt, ttl, created), end));
  }
});

test("an end that can't be read is an error, also beside one that can", () => {
  for (const expiresAt of [
    "",
    "tomorrow",
    "2026-01-01",
    "2026-02-30T00:00:00Z",
    "2026-01-01 00:00:00",
    "2026-01-01T00:00:00",
  ]) {
    assert.equal(endOf(expiresAt, "2020-01-01"), "unreadable", expiresAt);
  }
  for (const ttl of ["", "soon", "1", "2026-13-01", "2026-02-30", "2026-01-01T00:00:00Z", "1fortnight"]) {
    assert.equal(endOf("2020-01-01T00:00:00Z", ttl), "unreadable", ttl);
  }
});

test("it has expired from the moment after its end on", () => {
  const told = (expiresAt: string, now: number) => expiredText(exception(expiresAt), now);
  assert.equal(told("2026-06-15T12:00:00Z", NOW), undefined);
  assert.equal(
    told("2026-06-15T12:00:00Z", NOW + 1),
    "PolicyException ns/e has expired (2026-06-15T12:00:00Z), and exempts from nothing",
  );
  assert.equal(told("2026-06-15T12:00:01Z", NOW), undefined);
});
