import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, test } from "node:test";
import { distantModules, type KeptModules, keepModules } from "../../src/serving/shared-modules.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** One end of the way between two processes. */
class End extends EventEmitter {
  peer: EventEmitter = this;

  send(message: object): void {
    setImmediate(() => this.peer.emit("message", structuredClone(message)));
  }
}

/** Another process, as far as messages tell. */
function processOf({ attend }: KeptModules) {
  const [child, keeper] = [new End(), new End()];
  [child.peer, keeper.peer] = [keeper, child];
  attend(child);
  return { distant: distantModules(keeper), end: () => child.emit("exit") };
}

/** Whether something has come after a few turns. */
async function comes(work: Promise<unknown>): Promise<boolean> {
  let come = false;
  void work.then(() => {
    come = true;
  });
  for (let i = 0; i < 10; i++) await turn();
  return come;
}

describe("what processes share of modules", () => {
  test("an address is fetched by one of them at a time, and who waits is next", async () => {
    const kept = keepModules();
    const [one, two] = [processOf(kept), processOf(kept)];
    const leave = await one.distant.enter("address", "https/h/x", 1);
    const next = two.distant.enter("address", "https/h/x", 1);
    assert.equal(await comes(two.distant.enter("address", "https/h/y", 1)), true);
    const own = kept.share.enter("address", "https/h/x", 1);
    assert.equal(await comes(next), false);
    leave();
    leave();
    assert.equal(await comes(next), true);
    assert.equal(await comes(own), false);
  });

  test("what a process had is given back when it ends, and what it waited for goes to others", async () => {
    const kept = keepModules();
    const [one, two, three] = [processOf(kept), processOf(kept), processOf(kept)];
    await one.distant.enter("address", "a", 1);
    void two.distant.enter("address", "a", 1);
    await turn();
    const last = three.distant.enter("address", "a", 1);
    assert.equal(await comes(last), false);
    two.end();
    one.end();
    assert.equal(await comes(last), true);
  });
});
