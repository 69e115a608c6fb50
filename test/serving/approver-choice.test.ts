import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Child } from "../../src/serving/fleet.js";
import { ApproverChoice } from "../../src/serving/primary.js";

const child = (id: number): Child => ({
  id,
  process: { pid: id, kill: () => true },
  isConnected: () => true,
  send: () => true,
  on: () => {},
});

describe("the process that approves CertificateRequests", () => {
  test("is the first that serves, and no other while it lives", () => {
    const told: number[] = [];
    const appointment = new ApproverChoice(({ id }) => told.push(id));
    const [a, b, c] = [child(1), child(2), child(3)];
    appointment.among([]);
    for (const each of [[a], [a, b], [c, a, b]]) appointment.among(each);
    appointment.ended(b, [a, c]);
    assert.deepEqual(told, [1]);
  });

  test("is followed by one that serves, or by the next that does", () => {
    const told: number[] = [];
    const appointment = new ApproverChoice(({ id }) => told.push(id));
    const [a, b, c] = [child(1), child(2), child(3)];
    appointment.among([a]);
    appointment.ended(a, [b]);
    appointment.ended(b, []);
    assert.deepEqual(told, [1, 2]);
    appointment.among([c]);
    assert.deepEqual(told, [1, 2, 3]);
  });
});
