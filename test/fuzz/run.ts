/**
 * Long runs of the fuzzers, by name (all of them by default), in turns until the time is over:
 * `npm run fuzz -- stalls --seconds 600 --seed 42`. Each names what it found, and the run fails when it found anything.
 */
import { parseArgs } from "node:util";
import { allowFuzzer } from "./allow-fuzzer.js";
import { answerFuzzer } from "./answer-stalls.js";
import { brokenCommandFuzzer } from "./broken-commands.js";
import { formFuzzer } from "./differential.js";
import { escapedKeyFuzzer } from "./escaped-keys.js";
import type { Fuzzer } from "./fuzzer.js";
import { hintFuzzer } from "./hints.js";
import { mutationFuzzer } from "./mutations.js";
import { pauseFuzzer } from "./pauses.js";
import { printedYamlFuzzer } from "./printed-yaml.js";
import { requestPolicyFuzzer } from "./request-policies.js";
import { requestFuzzer } from "./requests.js";
import { stallFuzzer } from "./stall-fuzzer.js";
import { yamlFuzzer } from "./yaml.js";

const FUZZERS: readonly Fuzzer[] = [
  allowFuzzer,
  stallFuzzer,
  answerFuzzer,
  brokenCommandFuzzer,
  escapedKeyFuzzer,
  formFuzzer,
  hintFuzzer,
  mutationFuzzer,
  pauseFuzzer,
  printedYamlFuzzer,
  requestFuzzer,
  requestPolicyFuzzer,
  yamlFuzzer,
];
const DEFAULT_SECONDS = 600;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string" }, seed: { type: "string" } },
});
const unknown = positionals.filter((name) => FUZZERS.every((each) => each.name !== name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}; there are: ${FUZZERS.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const chosen = FUZZERS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const share = (Number(values.seconds ?? DEFAULT_SECONDS) * 1_000) / chosen.length;
for (const fuzzer of chosen) {
  console.log(`${fuzzer.name}: seed ${seed}, ${Math.round(share / 1_000)} s`);
  for (const found of await fuzzer.run(share, seed)) {
    process.exitCode = 1;
    console.log(found);
  }
}
