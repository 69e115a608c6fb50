import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DistantModuleShare, type FromShareKeeper, KeptShare } from "../../src/fetch/distant-share.js";
import { FolderBound } from "../../src/fetch/folder-bound.js";
import { LocalModuleShare, type ModuleShare } from "../../src/fetch/module-share.js";
import { folder } from "./helpers.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Another process, as far as messages tell. */
function processOf(share: ModuleShare) {
  let hear = (_: FromShareKeeper): void => {};
  const kept = new KeptShare(share, (message) => setImmediate(() => hear(structuredClone(message))));
  const distant = new DistantModuleShare({
    send: (message) => setImmediate(() => void kept.hear(structuredClone(message))),
    listen: (listener) => {
      hear = listener;
    },
  });
  return { distant, end: () => kept.end() };
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
    const share = new LocalModuleShare();
    const [one, two] = [processOf(share), processOf(share)];
    const leave = await one.distant.enter("address", "https/h/x", 1);
    const next = two.distant.enter("address", "https/h/x", 1);
    assert.equal(await comes(two.distant.enter("address", "https/h/y", 1)), true);
    assert.equal(await comes(next), false);
    leave();
    assert.equal(await comes(next), true);
  });

  test("what a process had is given back when it ends, and what it waited for goes to others", async () => {
    const share = new LocalModuleShare();
    const [one, two, three] = [processOf(share), processOf(share), processOf(share)];
    await one.distant.enter("address", "a", 1);
    void two.distant.enter("address", "a", 1);
    await turn();
    const last = three.distant.enter("address", "a", 1);
    assert.equal(await comes(last), false);
    two.end();
    one.end();
    assert.equal(await comes(last), true);
  });

  test("questions are each process's own matter", async () => {
    const share = new LocalModuleShare();
    const [one, two] = [processOf(share), processOf(share)];
    for (let i = 0; i < 2; i++) await one.distant.enter("namespacedQuestions", "team", 1);
    assert.equal(await comes(one.distant.enter("namespacedQuestions", "team", 1)), false);
    assert.equal(await comes(two.distant.enter("namespacedQuestions", "team", 1)), true);
  });

  test("a file that one of them holds stays in the folder, until that process lets go or ends", async (context) => {
    const root = folder(context, { "https/h/x.wasm": "12345678", "https/h/x.wasm.digest": "-" });
    const share = new LocalModuleShare(new FolderBound(root, 10, Date.now));
    const [one, two] = [processOf(share), processOf(share)];
    const release = await one.distant.pin(`${root}/https/h/x.wasm`);
    await two.distant.pin(`${root}/https/h/x.wasm`);
    assert.equal(await one.distant.place(`${root}/https/h/y.wasm`, 5, "kept"), false);
    release();
    assert.equal(await one.distant.place(`${root}/https/h/y.wasm`, 5, "kept"), false);
    two.end();
    assert.equal(await one.distant.place(`${root}/https/h/y.wasm`, 5, "kept"), true);
  });
});
