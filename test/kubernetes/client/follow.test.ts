import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError, ClusterUnreachable, ResourceError } from "../../../src/kubernetes/client/errors.js";
import { type Following, followUntil } from "../../../src/kubernetes/client/follow.js";
import { Outage, type Readiness } from "../../../src/kubernetes/client/outage.js";
import type { ListTarget } from "../../../src/kubernetes/client/watched-list.js";
import { TestClock } from "../../support/test-clock.js";
import { until } from "./support.js";

const AWAY = new ClusterUnreachable("connection refused");
const status = (code: number) => new ApiError(code, "", "");

/** Lists that fail as they are told to. */
class FakeLists {
  readonly clock = new TestClock();
  readonly stopping = new AbortController();
  readonly told: boolean[] = [];
  begun = 0;
  #ready: () => void = () => {};
  end: (error: unknown) => void = () => {};

  constructor(outage?: Outage) {
    const following: Following<ListTarget> = {
      clock: this.clock,
      begin: () => {
        this.begun++;
        const ready = new Promise<void>((resolve) => {
          this.#ready = resolve;
        });
        const ended = new Promise<unknown>((resolve) => {
          this.end = resolve;
        });
        return { ready, ended, stop: () => {}, ...(outage && { outage }) };
      },
      failed: (_, refused) => this.told.push(refused),
      random: () => 1,
    };
    followUntil(this.stopping.signal, following);
  }

  /** The milliseconds from this failure until the next list is begun, in steps of a second. */
  async waitAfter(error: unknown, listedMs?: number): Promise<number> {
    if (listedMs !== undefined) this.#ready();
    await nextTurn();
    this.clock.move(listedMs ?? 0);
    this.end(error);
    await nextTurn();
    const begun = this.begun;
    const from = this.clock.now();
    while (this.begun === begun && this.clock.timers > 0) this.clock.move(1_000);
    return this.clock.now() - from;
  }
}

describe("a list that has failed for good", () => {
  test("is begun anew after a wait that doubles up to a minute, whatever the failure, and starts over once a list was followed for so long", async () => {
    const lists = new FakeLists();
    const waits: number[] = [];
    for (const error of [AWAY, status(500), status(401), status(403), status(404), AWAY, AWAY, status(403)])
      waits.push(await lists.waitAfter(error));
    waits.push(await lists.waitAfter(status(410), 60_000), await lists.waitAfter(AWAY));
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 1_000, 2_000]);
    assert.deepEqual(lists.told.slice(0, 6), [false, false, true, true, true, false]);
  });

  test("is begun anew later and later, too, when it may be listed but not watched", async () => {
    const lists = new FakeLists();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) waits.push(await lists.waitAfter(status(403), 100));
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000]);
  });

  test("rests for half a minute at least when it was too large", async () => {
    assert.equal(await new FakeLists().waitAfter(new ResourceError("too many")), 30_000);
  });

  test("is begun anew at once when the API server is ready again, and nobody is told of what it refuses until it has settled", async () => {
    let isReady: Readiness = "away";
    const outage = new Outage(async () => isReady);
    const lists = new FakeLists(outage);
    assert.equal(await lists.waitAfter(status(403)), 1_000);
    outage.lost();
    await nextTurn();
    lists.end(status(403));
    await nextTurn();
    assert.deepEqual([lists.begun, lists.told], [2, [true]]);
    isReady = "ready";
    await until("the return", () => lists.begun === 3);
    assert.equal(await lists.waitAfter(status(403)), 1_000);
    assert.equal(await lists.waitAfter(status(500)), 2_000);
    assert.deepEqual(lists.told, [true, false]);
    outage.end();
  });

  test("is not begun anew after the end", async () => {
    const lists = new FakeLists();
    lists.stopping.abort();
    assert.equal(await lists.waitAfter(AWAY), 0);
    assert.deepEqual([lists.begun, lists.told], [1, []]);
  });
});
