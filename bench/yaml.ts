/**
 * Resources read from YAML: values alone, and documents that know their places, as `check`, `serve` and `apply` read policies and resources.
 *
 * Method: 1,000 Pods in one text, in this process, warm; rounds of all readers take turns, beside the package `yaml`, which read files here until
 * Kubernetes' grammar had a reader of its own. Times are those of the process's CPU, garbage collection included.
 *
 * | what | goal |
 * | --- | --- |
 * | 1,000 Pods, values alone | 150 ms, and 5 times as fast as the package |
 */
import { loadavg } from "node:os";
import { parseAllDocuments, stringify } from "yaml";
import { parseResources } from "../src/config/documents/source-document.js";
import { parseYamlDocuments } from "../src/data/yaml.js";
import { pod } from "./support/pods.js";
import { median, spread } from "./support/statistics.js";

const PODS = 1_000;
const ROUNDS = 9;
/** Rounds before those that count: the engine compiles what runs often. */
const WARM_UP = 2;

const text = Array.from({ length: PODS }, (_, i) => stringify(pod(i))).join("---\n");

const readers: Readonly<Record<string, () => number>> = {
  "values alone": () => parseYamlDocuments(text).length,
  "documents with places": () => parseResources(text, "pods.yaml").documents.length,
  "the package yaml, values": () =>
    parseAllDocuments(text, { version: "1.1", merge: true }).map((document) => document.toJS()).length,
};
const times = new Map(Object.keys(readers).map((name) => [name, [] as number[]]));

for (let round = -WARM_UP; round < ROUNDS; round++) {
  for (const [name, read] of Object.entries(readers)) {
    const before = process.cpuUsage();
    if (read() !== PODS) throw new Error(`${name}: not all Pods are read`);
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) times.get(name)?.push((user + system) / 1_000);
  }
}

const peer = median(times.get("the package yaml, values") ?? []);
console.log(`${PODS} Pods, ${(text.length / 1e6).toFixed(1)} MB; load ${loadavg()[0]?.toFixed(1)}`);
for (const [name, of] of times) {
  console.log(`${name}: ${spread(of, 0)} ms CPU; the package takes ${(peer / median(of)).toFixed(1)} times as long`);
}
