/** `test --watch`: what makes it run again, and what ends it. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { watchTests } from "../../../src/cli/test/watch.js";
import { UsageError } from "../../../src/data/command-io.js";
import { written } from "../../support/written.js";
import { testFolder } from "./support.js";

const { folder, write } = testFolder();
/** Milliseconds between looks: short, so that the test is. */
const INTERVAL = 10;

test("runs again when a file below, one that is new, or one that was read has changed, until told to stop", async () => {
  const elsewhere = write("elsewhere/policy.bin", "1");
  const fixture = write("tests/a.yaml", "a: 1");
  write("tests/node_modules/b.yaml", "b: 1");
  let runs = 0;
  let wake: () => void = () => {};
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const watching = watchTests(
    async (touched) => {
      runs++;
      touched([elsewhere]);
      wake();
      if (runs === 2) throw new UsageError("a mistake in test files");
      return 1;
    },
    { paths: [`${folder}/tests`], io: { stdout, stderr, env: {} }, stopped, interval: INTERVAL },
  );
  /** What is looked after is known when that has been said. */
  const said = async (times: number): Promise<void> => {
    for (let printed = ""; printed.split("Ctrl+C ends\n").length <= times; ) {
      printed += written(stdout);
      await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    }
  };
  const again = (change: () => void): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      change();
    });
  await said(1);
  await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL));
  await again(() => write("tests/a.yaml", "a: 22"));
  await said(1);
  assert.equal(written(stderr), "Error: a mistake in test files\n");
  await again(() => write("elsewhere/policy.bin", "333"));
  await said(1);
  await again(() => write("tests/sub/new.test.yaml", "x"));
  await said(1);
  await again(() => rmSync(fixture));
  await said(1);
  assert.equal(runs, 5);
  stop();
  assert.equal(await watching, 0);
});
