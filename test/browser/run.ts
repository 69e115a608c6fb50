/**
 * `npm run browser-test`: the page in a real Chromium, over a server that is written down and over `policy-server play`. `--screenshots` takes the pictures
 * of the documentation as well. Exit code 1: something failed, 2: there is no Chromium.
 */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { barriersOf } from "./axe.js";
import { findChromium, launch } from "./devtools.js";
import { mockScenarios } from "./mock-scenarios.js";
import { mockServer } from "./mock-server.js";
import { takePictures } from "./pictures.js";
import { playScenarios } from "./play-scenarios.js";
import { playServer } from "./play-server.js";
import type { Scenario, Stage } from "./scenario.js";
import { Tab } from "./tab.js";

/** A scenario that takes longer hangs, and the whole run likewise. In milliseconds. */
const SCENARIO_LIMIT = 60_000;
const RUN_LIMIT = 10 * 60_000;
const PICTURES = fileURLToPath(new URL("../../../docs/images/", import.meta.url));

function inTime<T>(what: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took more than ${SCENARIO_LIMIT / 1000} s`)), SCENARIO_LIMIT);
  });
  return Promise.race([what, late]).finally(() => clearTimeout(timer));
}

/** What is wrong after a scenario; undefined: nothing. */
async function attempt(scenario: Scenario, stage: Stage): Promise<string | undefined> {
  const { tab, mock, play } = stage;
  tab.complaints.length = 0;
  tab.requests.length = 0;
  try {
    await inTime(scenario.run(stage));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const complaints = tab.complaints.filter((text) => scenario.mayComplain?.test(text) !== true);
  if (complaints.length > 0) return `the browser complains: ${complaints.join("; ")}`;
  const barriers = await inTime(barriersOf(tab));
  if (barriers.length > 0) return `axe finds: ${barriers.join("; ")}`;
  const own = [mock.url, play, "data:", "about:"];
  const foreign = tab.requests.filter((url) => !own.some((start) => url.startsWith(start)));
  return foreign.length > 0 ? `the page asks elsewhere: ${foreign.join(", ")}` : undefined;
}

async function run(chromium: string, screenshots: boolean, only: string): Promise<number> {
  const mock = await mockServer();
  const play = await playServer();
  const browser = await launch(chromium);
  let failed = 0;
  try {
    const stage: Stage = { tab: await Tab.of(browser.tab), mock, play: play.url };
    const scenarios = [...mockScenarios, ...playScenarios].filter(({ name }) => name.includes(only));
    for (const scenario of scenarios) {
      const start = Date.now();
      const wrong = await attempt(scenario, stage);
      if (wrong !== undefined) failed += 1;
      console.log(
        `${wrong === undefined ? "✔" : "✖"} ${scenario.name} (${Date.now() - start} ms)${wrong === undefined ? "" : `\n  ${wrong}`}`,
      );
    }
    console.log(`${scenarios.length - failed} passed, ${failed} failed`);
    if (screenshots) {
      mkdirSync(PICTURES, { recursive: true });
      for (const file of await takePictures(stage, PICTURES)) console.log(file);
    }
  } finally {
    browser.tab.close();
    await browser.end();
    await play.end();
    await mock.stop();
  }
  return failed === 0 ? 0 : 1;
}

const { values, positionals } = parseArgs({
  options: { screenshots: { type: "boolean", default: false } },
  allowPositionals: true,
});
const chromium = findChromium();
if (chromium === undefined) {
  console.error(
    "no Chromium was found: install it (Debian: apt install chromium), or name its file in the variable CHROMIUM",
  );
  process.exit(2);
}
setTimeout(() => {
  console.error(`the run takes more than ${RUN_LIMIT / 60_000} min`);
  process.exit(1);
}, RUN_LIMIT).unref();
process.exitCode = await run(chromium, values.screenshots, positionals[0] ?? "");
