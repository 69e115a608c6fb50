import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Answer, Child } from "../../src/serving/fleet.js";
import type { ToWorker } from "../../src/serving/messages.js";
import { FleetCertificate } from "../../src/serving/primary.js";
import { keptLog } from "../cluster/approver/support.js";

const PAIR = { certificate: "certificate", key: "key" };
const child = (id: number): Child => ({
  id,
  process: { pid: id, kill: () => true },
  isConnected: () => true,
  send: () => true,
  on: () => undefined,
});

/** A fleet of two processes, which answer as they are told to. */
function fleetOf(answers: readonly Answer[]) {
  const serving = [child(1), child(2)];
  const told: [number, ToWorker][] = [];
  const { logger, lines } = keptLog();
  const fleet = {
    serving,
    tell: (to: Child, message: ToWorker) => void told.push([to.id, message]),
    ask: async (children: readonly Child[], _: number, question: (id: number) => ToWorker) => {
      for (const each of children) told.push([each.id, question(7)]);
      return new Map(children.map((each, index) => [each, answers[index] ?? "gone"] as const));
    },
  };
  return { certificate: new FleetCertificate(fleet, logger), told, lines };
}

describe("the certificate of all processes", () => {
  test("is told to those that serve, who answer", async () => {
    const secured = { type: "secured", id: 7 } as const;
    const { certificate, told, lines } = fleetOf([secured, secured]);
    await certificate.secure(PAIR);
    const message = { type: "secure", id: 7, pair: PAIR };
    assert.deepEqual(told, [
      [1, message],
      [2, message],
    ]);
    assert.deepEqual(lines, []);
  });

  test("is told to one that begins: the newest, or that there is none yet", async () => {
    const { certificate, told } = fleetOf([]);
    certificate.tell(child(3));
    await certificate.secure(PAIR);
    certificate.tell(child(4));
    assert.deepEqual(told[0], [3, { type: "secure" }]);
    assert.deepEqual(told.at(-1), [4, { type: "secure", pair: PAIR }]);
  });

  test("that somebody does not take in time is said so; one that has gone is none of them any more", async () => {
    const { certificate, lines } = fleetOf(["late", "gone"]);
    await certificate.secure(PAIR);
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields.late]),
      [["error", 1]],
    );
  });
});
