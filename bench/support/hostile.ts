/** Objects shaped to hurt, and policies of every kind that look at all of them. Each of these policies denies each of these objects. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyModule } from "../../test/support/empty-module.js";
import type { Shot } from "./attack.js";
import { responseIn } from "./reviews.js";

/** Levels of the deep lists: below what is refused as too deep. */
const DEPTH = 400;

/** What an object's `spec.data` is, in about so many bytes of JSON. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  // As wide as one may be: 50,000 members in a body of the usual size, and more in larger ones.
  "wide map": (bytes) => `{${fill(bytes, 40, (i) => `"k${i}":${i % 10}`)}}`,
  "map of maps": (bytes) => `{${fill(bytes, 24, (i) => `"k${i}":{"a":{"b":1}}`)}}`,
  "deep lists": (bytes) => `[${fill(bytes, 2 * DEPTH + 1, () => `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`)}]`,
  "long text": (bytes) => `"${"a".repeat(bytes)}"`,
  "list of numbers": (bytes) => `[${fill(bytes, 7, (i) => `${i}`)}]`,
  "reversed list": (bytes) => `[${fill(bytes, 8, (i) => `${9_999_999 - i}`)}]`,
  "list of texts": (bytes) =>
    `[${fill(bytes, bytes / 100_000, (i) => `"${`t${i}`.padEnd(bytes / 100_000 - 3, "x")}"`)}]`,
  unicode: (bytes) => `["${"\\ud83d\\ude00\\u0000ä\u{1f600}".repeat(bytes / 24)}"]`,
  "empty objects": (bytes) => `[${fill(bytes, 3, () => "{}")}]`,
};

function fill(bytes: number, each: number, item: (index: number) => string): string {
  return Array.from({ length: Math.floor(bytes / each) }, (_, index) => item(index)).join(",");
}

/** What the guests of chaos are told to do with it: deny it, or misbehave. */
const DENIES = ["reject"];
const MISBEHAVES = ["trap", "loop", "oom", "large", "not-json", "stack"];

/** A review of an object of about so many bytes. */
function review(data: string, mode: string): string {
  return (
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"hostile","kind":{"group":"","version":"v1","kind":"Pod"},' +
    '"resource":{"group":"","version":"v1","resource":"pods"},"operation":"CREATE","namespace":"hostile","userInfo":{"username":"mallory"},' +
    `"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"chaos/mode":"${mode}"}},` +
    `"spec":{"containers":[{"name":"a","image":"i","securityContext":{"privileged":true}}],"data":${data}}}}}`
  );
}

const CEL = ["h-vap", "h-cel", "h-group", "h-module"];
const GUESTS = ["h-extism", "h-wapc", "h-wasi", "h-opa", "h-gatekeeper"];
const CHAOS = ["h-wapc", "h-wasi"];

/** Whom an attack is meant for. */
export interface Aim {
  readonly policies: readonly string[];
  readonly modes: readonly string[];
  /** Default: all. */
  readonly shapes?: readonly string[];
}

/** Policies that are evaluated here, guests, guests that misbehave, and all of them. */
export const AIMS = {
  cel: { policies: CEL, modes: DENIES },
  guests: { policies: GUESTS, modes: DENIES },
  // Small objects: it is the guest that hurts.
  chaos: { policies: CHAOS, modes: MISBEHAVES },
  all: { policies: [...CEL, ...GUESTS], modes: DENIES },
} satisfies Record<string, Aim>;

/** Every shape with every policy and every mode, over and over. */
export function hostileShots(bytes: number, { policies, modes, shapes = Object.keys(SHAPES) }: Aim): () => Shot {
  const data = shapes.map((name) => ({ name, text: SHAPES[name]?.(bytes) ?? "" }));
  const bodies = data.flatMap(({ name, text }) =>
    modes.map((mode) => ({ name: `${name} (${mode})`, body: Buffer.from(review(text, mode)) })),
  );
  let count = 0;
  return () => {
    const turn = count++;
    const { name, body } = bodies[turn % bodies.length] ?? { name: "", body: "" };
    // Shifted by one after each round, so that every policy gets every body whatever their numbers.
    const policy = policies[(turn + Math.floor(turn / bodies.length)) % policies.length];
    return { name, body, path: `/validate/${policy}` };
  };
}

/** Statuses of requests that were refused before anything was decided. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 429, 503]);

/** What is wrong with an answer to one of them: anything but a denial or a refusal. */
export function wrongForHostile({ name, path }: Shot, status: number, body: string): string | undefined {
  if (REFUSED.has(status) || (status === 200 && responseIn(body)?.allowed === false)) return undefined;
  return `${path} ${name}: ${status} ${body.slice(0, 300)}`;
}

const LOOPS = [
  // Each element with each other, texts with patterns, everything as text, everything sorted.
  "type(object.spec.data) != list || object.spec.data.all(x, object.spec.data.exists(y, x == y))",
  "type(object.spec.data) != map || object.spec.data.all(k, k.matches('^(k+)+[0-9]*$') && object.spec.data[k] != 'x')",
  "type(object.spec.data) != list || object.spec.data.map(x, x).size() >= 0",
  "type(object.spec.data) != string || object.spec.data.lowerAscii().replace('a', 'bb').size() > 0",
];
const DENIAL = "object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))";

const validations = (indent: string, expressions: readonly string[]): string =>
  expressions.map((expression) => `${indent}- expression: "${expression}"`).join("\n");

/** Writes what the policies are made of, and returns their entries. */
export function hostilePolicies(root: string, folder: string): string {
  const loops = [...LOOPS, DENIAL];
  writeFileSync(join(folder, "cel.wasm"), emptyModule("cel-policy"));
  writeFileSync(
    join(folder, "vap.yaml"),
    `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: h-vap }
spec:
  matchConstraints:
    resourceRules: [ { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] } ]
  validations:
${validations("    ", loops)}
`,
  );
  return `
h-vap: { resource: ${join(folder, "vap.yaml")} }
h-cel:
  cel:
    validations:
${validations("      ", [...loops, "'%s'.format([object.spec.data]).size() > 0"])}
h-inner: { cel: { validations: [ { expression: "object.size() >= 0" } ] } }
h-group:
  expression: "(inner(object.spec.data) || object.spec.data.all(x, inner(x))) && pods()"
  message: "group says no"
  policies: { inner: { policy: h-inner }, pods: { policy: h-extism } }
h-module:
  module: ${join(folder, "cel.wasm")}
  settings:
    validations:
${validations("      ", loops)}
h-extism: { module: "${root}/policies/privileged-pods/policy.wasm" }
h-wapc: { module: "${root}/test/fixtures/chaos/wapc.wasm" }
h-wasi: { module: "${root}/test/fixtures/chaos/wasi.wasm" }
h-opa: { module: "${root}/test/vectors/rego/opa.wasm", executionMode: opa }
h-gatekeeper: { module: "${root}/test/vectors/rego/gatekeeper.wasm", executionMode: gatekeeper, settings: { exempt: [] } }
`;
}
