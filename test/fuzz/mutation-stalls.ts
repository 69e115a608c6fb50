/** Mutations of large objects that hold the main thread: what is patched, merged, converted and compared, up to the patch that is answered. */
import type { JsonObject } from "../../src/kubernetes/object.js";
import { Turns } from "../../src/policy/turns.js";
import {
  applies,
  asked,
  binding,
  map,
  patches,
  policy,
  review,
} from "../kinds/mutating-admission-policy/support/documents.js";
import { longestHold } from "../support/main-thread-time.js";

/** Milliseconds until the deadline of a request; a time-out is no stall. */
const DEADLINE_MS = 10_000;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const METADATA = { name: "m", namespace: "ns" };
const entries = (count: number): JsonObject => Object.fromEntries(times(count, (i) => [`key-${i}`, `value-${i}`]));

/** Objects of about 2 MB, by the resource that they are of. */
const OBJECTS = {
  configmaps: (): JsonObject => ({ ...map(entries(40_000)), metadata: { ...METADATA, labels: entries(40_000) } }),
  pods: (): JsonObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: METADATA,
    spec: {
      containers: times(10_000, (i) => ({
        name: `c${i}`,
        image: `registry.example.com/team/app:${i}`,
        env: [{ name: "A", value: String(i) }],
        resources: { limits: { cpu: "100m", memory: "128Mi" } },
      })),
    },
  }),
  services: (): JsonObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: METADATA,
    spec: { ports: times(25_000, (i) => ({ port: i + 1, protocol: "TCP", name: `p${i}` })) },
  }),
} as const;

const both = times(10, (i) => [
  ...(patches(`[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': '${i}'}}]`).mutations as JsonObject[]),
  ...(applies(`Object{metadata: Object.metadata{labels: {'l${i}': 'x'}}}`).mutations as JsonObject[]),
]).flat();
const doubled = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";

/** Mutations, each with the resource that they are about. */
const MUTATIONS: readonly (readonly [keyof typeof OBJECTS, JsonObject])[] = [
  ["configmaps", { mutations: both }],
  ["pods", { mutations: both }],
  ["services", { mutations: both }],
  ["configmaps", patches("[JSONPatch{op: 'copy', from: '/data', path: '/metadata/annotations'}]")],
  ["configmaps", patches("[JSONPatch{op: 'add', path: '/data', value: {}}]")],
  ["configmaps", applies("Object{metadata: Object.metadata{annotations: object.metadata.labels}}")],
  [
    "configmaps",
    patches(`[JSONPatch{op: 'replace', path: '/data', value: {'a': 'b'}}, JSONPatch{op: 'add', path: '/metadata/labels', value: {}}] +
      ${doubled}.map(i, JSONPatch{op: 'copy', from: '/data', path: '/data/c' + string(i)})`),
  ],
  ["pods", patches("[JSONPatch{op: 'remove', path: '/spec/containers/0'}]")],
  ["pods", patches("[JSONPatch{op: 'test', path: '/spec', value: object.spec}]")],
  [
    "services",
    applies(
      "Object{spec: Object.spec{ports: object.spec.ports.map(p, Object.spec.ports{port: p.port, protocol: p.protocol, name: 'x'})}}",
    ),
  ],
];

/** Which mutations hold the main thread for longer than so many milliseconds of computing, twice: what happens once, such as a compilation, is no fault of theirs. */
export async function mutationStalls(limit: number): Promise<readonly string[]> {
  const stalls: string[] = [];
  for (const [resource, mutations] of MUTATIONS) {
    const of = asked([policy(mutations), binding()], { now: () => performance.now() });
    const turns = new Turns();
    const held: number[] = [];
    while (held.length < 2 && (held.at(-1) ?? limit + 1) > limit) {
      const object = OBJECTS[resource]();
      const question = review(object, {
        kind: { group: "", version: "v1", kind: String(object.kind) },
        resource: { group: "", version: "v1", resource },
      });
      const run = async (): Promise<void> => {
        const deadline = performance.now() + DEADLINE_MS;
        await of.evaluate(question, { deadline, signal: new AbortController().signal, turns });
      };
      held.push(await longestHold(run));
    }
    const least = Math.min(...held);
    if (least > limit) stalls.push(`${Math.round(least)} ms: ${resource}: ${JSON.stringify(mutations).slice(0, 200)}`);
  }
  return stalls;
}
