import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError, ClusterUnreachable } from "../../../src/kubernetes/client/errors.js";
import { type Following, followUntil } from "../../../src/kubernetes/client/follow.js";
import type { ListTarget } from "../../../src/kubernetes/client/watched-list.js";
import { TestClock } from "../../support/test-clock.js";

const AWAY = new ClusterUnreachable("connection refused");
const status = (code: number) => new ApiError(code, "", "");

/** Lists that fail as they are told to. */
class FakeLists {
  readonly clock = new TestClock();
  readonly stopping = new AbortController();
  readonly told: boolean[] = [];
  begun = 0;
  #ready: () => void = () => {};
  #end: (error: unknown) => void = () => {};

  constructor(refusedMs?: number) {
    const following: Following<ListTarget> = {
      clock: this.clock,
      begin: () => {
        this.begun++;
        const ready = new Promise<void>((resolve) => {
          this.#ready = resolve;
        });
        const ended = new Promise<unknown>((resolve) => {
          this.#end = resolve;
        });
        return { ready, ended, stop: () => {} };
      },
      failed: (_, refused) => this.told.push(refused),
      ...(refusedMs !== undefined && { refusedMs }),
    };
    followUntil(this.stopping.signal, following);
  }

  /** The milliseconds from this failure until the next list is begun, in steps of a second. */
  async waitAfter(error: unknown, listedMs?: number): Promise<number> {
    if (listedMs !== undefined) this.#ready();
    await nextTurn();
    this.clock.move(listedMs ?? 0);
    this.#end(error);
    await nextTurn();
    const begun = this.begun;
    const from = this.clock.now();
    while (this.begun === begun && this.clock.timers > 0) this.clock.move(1_000);
    return this.clock.now() - from;
  }
}

describe("a list that has failed for good", () => {
  test("is begun anew after a wait that doubles up to half a minute, and starts over once a list was followed for so long", async () => {
    const lists = new FakeLists();
    const waits: number[] = [];
    for (const error of [AWAY, status(500), AWAY, status(403), AWAY, AWAY, AWAY])
      waits.push(await lists.waitAfter(error));
    waits.push(await lists.waitAfter(status(410), 30_000), await lists.waitAfter(AWAY));
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 1_000, 2_000]);
  });

  test("is begun anew later and later, too, when it may be listed but not watched", async () => {
    const lists = new FakeLists();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) waits.push(await lists.waitAfter(status(403), 100));
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000]);
  });

  test("waits as long as was said only where it may not be had", async () => {
    const lists = new FakeLists(300_000);
    const waits: number[] = [];
    for (const error of [AWAY, status(500), status(401), status(403), status(404)])
      waits.push(await lists.waitAfter(error));
    assert.deepEqual(waits, [1_000, 2_000, 300_000, 300_000, 300_000]);
    assert.deepEqual(lists.told, [false, false, true, true, true]);
  });

  test("is not begun anew after the end", async () => {
    const lists = new FakeLists();
    lists.stopping.abort();
    assert.equal(await lists.waitAfter(AWAY), 0);
    assert.deepEqual([lists.begun, lists.told], [1, []]);
  });
});
