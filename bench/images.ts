/**
 * ImageValidatingPolicies: a kept verdict beside a CEL policy without images, and verdicts that are made anew beside the bare verification of the same
 * signature by node:crypto. In one process, the sides in turns; registries are in memory, so that the network does not count.
 *
 * | what | goal |
 * | --- | --- |
 * | a policy whose verdict is kept, beside a CEL policy about the same Pod | 1.5 times |
 * | a verdict on a key's signature, beside `crypto.verify` | 3 times |
 * | a verdict on an identity's signature (keyless), beside `crypto.verify` | 10 times |
 *
 * | the same beside Kyverno's engine, both by a registry on loopback, nothing kept | a third of its CPU |
 *
 * The last row needs KYVERNO_IMAGES, the program of scripts/image-verdicts, and port 5055: `unshare -rn sh -c 'ip link set lo up && node …'`. That program
 * serves the registry, too; its CPU for that, and for the checks that it makes besides, is measured apart and left out.
 */
import { spawn } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseResources } from "../src/config/documents/source-document.js";
import type { ResourceEntry } from "../src/config/entry.js";
import { parseConfig } from "../src/config/index.js";
import { NO_SOURCES } from "../src/config/sources.js";
import { openImageLayouts } from "../src/fetch/image-layout.js";
import { formatImageReference, parseImageReference } from "../src/fetch/image-reference.js";
import { ImageTrustReader } from "../src/fetch/image-trust.js";
import { openRegistries, type Registry, SignatureChecks, sigstoreTrustRoot } from "../src/fetch/index.js";
import type { CosignAttestor } from "../src/fetch/signatures/attestor.js";
import { attestorVerdict } from "../src/fetch/signatures/attestor-verdict.js";
import { kyvernoKind } from "../src/kinds/kyverno/kind.js";
import { prepareDocuments } from "../src/kinds/resource-entry.js";
import type { JsonObject } from "../src/kubernetes/object.js";
import type { AdmissionQuestion, Policy } from "../src/policy/index.js";
import { NO_OPINION } from "../src/world/authorizer/authorizer.js";
import { NO_EXTERNAL } from "../src/world/external.js";
import type { ImageTrust } from "../src/world/images/image-trust.js";
import { RegistryTrust } from "../src/world/images/registry-trust.js";
import { spread } from "./support/statistics.js";

const ROUNDS = 15;
const fixtures = new URL("../../test/fixtures/images/", import.meta.url);
const text = (name: string): string => readFileSync(new URL(name, fixtures), "utf8");
const now = (): number => performance.now();
const signal = new AbortController().signal;
const context = { deadline: Number.POSITIVE_INFINITY, signal };

/** A registry whose answers are in memory after the first question. */
function inMemory(registry: Registry): Registry {
  const kept = new Map<string, Promise<never>>();
  const once = <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    if (!kept.has(key)) kept.set(key, ask() as Promise<never>);
    return kept.get(key)!;
  };
  return {
    manifest: (image, ...rest) => once(formatImageReference(image), () => registry.manifest(image, ...rest)),
    blob: (image, descriptor, ...rest) => once(descriptor.digest, () => registry.blob(image, descriptor, ...rest)),
    async *referrers(image, digest, given) {
      yield await once(`of ${digest}`, async () => {
        const lists: (readonly never[])[] = [];
        for await (const list of registry.referrers(image, digest, given)) lists.push(list as readonly never[]);
        return lists.flat();
      });
    },
  };
}

const registry = inMemory(openImageLayouts([fileURLToPath(fixtures)]));
const trustConfig = fileURLToPath(new URL("trust.json", fixtures));
const checks = new SignatureChecks(sigstoreTrustRoot({ trustConfig, cacheDirectory: "" }), now);

/** Microseconds of a side's CPU for one call, by round; all sides take turns. */
async function inTurns(sides: Readonly<Record<string, () => unknown>>, calls: number) {
  const names = Object.keys(sides);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = -3; round < ROUNDS; round++) {
    for (const name of names) {
      const call = sides[name]!;
      const begun = process.cpuUsage();
      for (let i = 0; i < calls; i++) await call();
      const { user, system } = process.cpuUsage(begun);
      if (round >= 0) times.get(name)!.push((user + system) / calls);
    }
  }
  for (const name of names) console.log(`${name}: ${spread(times.get(name)!, 1)} µs`);
  return times;
}

/** How many times as much one side takes as another, round by round. */
function ratio(times: ReadonlyMap<string, readonly number[]>, own: string, other: string): void {
  const others = times.get(other)!;
  console.log(`  ${own} / ${other}: ${spread(times.get(own)!.map((each, i) => each / others[i]!))}`);
}

async function load(document: JsonObject, trust: ImageTrust): Promise<Policy> {
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  const [first] = holder.ok ? holder.config.entries : [];
  if (first?.kind !== "cel") throw new Error("the entry can't be made");
  const { documents } = parseResources(JSON.stringify(document), "p.yaml");
  const common = { policyMode: "protect", allowedToMutate: false } as const;
  const entry: ResourceEntry = { kind: "resource", id: "p", origin: first.origin, documents, ...common };
  const prepared = prepareDocuments(entry, [kyvernoKind()], () => {});
  return prepared.policy({ authorizer: NO_OPINION, now, external: { ...NO_EXTERNAL, trust } });
}

const digestOf = async (name: string): Promise<string> =>
  (await registry.manifest(parseImageReference(`localhost:5055/${name}`), signal)).digest;
const key = (name: string) => text(`keys/${name}.pub`);

// 1. A kept verdict.
const signed = `localhost:5055/team/app@${await digestOf("team/app:bundle-key")}`;
const object = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "web", image: signed }] },
};
const pods = {
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
};
const request = { uid: "1", ...pods, operation: "CREATE", namespace: "default", name: "web", userInfo: {}, object };
const review: AdmissionQuestion = { kind: "admission", request, requestBytes: () => new Uint8Array() };
const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["pods"] };
const document = (kind: string, spec: JsonObject): JsonObject => ({
  apiVersion: "policies.kyverno.io/v1",
  kind,
  metadata: { name: "p" },
  spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
});
const trust = new RegistryTrust(() => new ImageTrustReader(registry, checks), now, signal);
const images = await load(
  document("ImageValidatingPolicy", {
    matchImageReferences: [{ glob: "localhost:5055/*" }],
    attestors: [{ name: "team", cosign: { key: { data: key("cosign") } } }],
    validations: [
      { expression: "images.containers.all(image, verifyImageSignatures(image, [attestors.team]) > 0)", message: "no" },
    ],
  }),
  trust,
);
const plain = await load(
  document("ValidatingPolicy", {
    validations: [
      { expression: "object.spec.containers.all(c, c.image.startsWith('localhost:5055/'))", message: "no" },
      { expression: "object.spec.containers.all(c, c.image.contains('@sha256:'))", message: "no" },
    ],
  }),
  trust,
);
const ask = (policy: Policy) => () => {
  const outcome = policy.evaluate(review, context);
  if (outcome instanceof Promise) return outcome;
  if (outcome.verdict !== "allow") throw new Error(JSON.stringify(outcome));
  return undefined;
};
await ask(images)();
console.log("A Pod of one image, its verdict kept");
const kept = await inTurns({ "images, kept": ask(images), "CEL without images": ask(plain) }, 3000);
ratio(kept, "images, kept", "CEL without images");

// 2. Verdicts made anew.
const ISSUER = "http://localhost:5056";
const byKey = (more: CosignAttestor = {}): CosignAttestor => ({ key: { data: key("cosign") }, ...more });
const unlogged = byKey({ ctlog: { insecureIgnoreTlog: true } });
const keyless: CosignAttestor = { keyless: { identities: [{ issuer: ISSUER, subject: "ci@example.org" }] } };
const COLD: Readonly<Record<string, readonly [image: string, attestor: CosignAttestor]>> = {
  "key, bundle, no log": ["team/app:bundle-key-notlog", unlogged],
  "key, layer, no log": ["team/app:legacy-key-notlog", unlogged],
  "key, bundle, log": ["team/app:bundle-key", byKey()],
  "key, layer, log": ["team/app:legacy-key", byKey()],
  "identity, bundle": ["team/app:bundle-keyless", keyless],
  "identity, layer": ["team/app:legacy-keyless", keyless],
};
const sides: Record<string, () => unknown> = {};
for (const [name, [image, cosign]] of Object.entries(COLD)) {
  const digest = await digestOf(image);
  const reference = parseImageReference(`localhost:5055/${image}`);
  sides[name] = async () => {
    const about = { registry, image: reference, digest, signal };
    const { verified, reasons } = await attestorVerdict({ name: "a", cosign }, { kind: "signature" }, about, checks);
    if (!verified) throw new Error(`${image}: ${reasons.join("; ")}`);
  };
}
const { payload, signature } = await bareSignature("team/app:legacy-key-notlog");
const own = createPublicKey(key("cosign"));
sides["crypto.verify"] = () => {
  if (!verify("sha256", payload, own, signature)) throw new Error("not verified");
};

async function bareSignature(image: string) {
  const at = { host: "localhost:5055", repository: image.split(":")[0]! };
  const digest = await digestOf(image);
  const { content } = await registry.manifest({ ...at, tag: `${digest.replace(":", "-")}.sig` }, signal);
  const [layer] = content.layers as {
    digest: string;
    size: number;
    mediaType: string;
    annotations: Record<string, string>;
  }[];
  const bytes = await registry.blob(at, layer!, layer!.size, signal);
  return {
    payload: bytes,
    signature: Buffer.from(layer!.annotations["dev.cosignproject.cosign/signature"]!, "base64"),
  };
}

console.log("\nA verdict made anew, the registry in memory");
const cold = await inTurns(sides, 200);
for (const name of Object.keys(COLD)) ratio(cold, name, "crypto.verify");

// 3. Beside Kyverno.
const program = process.env.KYVERNO_IMAGES;
if (program !== undefined) await besideKyverno(program);

async function besideKyverno(path: string): Promise<void> {
  const folder = fileURLToPath(fixtures);
  const peer = spawn(path, ["-layout", folder, "-trust", `${folder}trusted-root.json`, "-files", folder], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface(peer.stdout)[Symbol.asyncIterator]();
  /** Milliseconds of its CPU: of 100 ticks a second. */
  const used = (): number => {
    const fields = readFileSync(`/proc/${peer.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  const peerAsked = async (line: string, times: number): Promise<number> => {
    const before = used();
    for (let i = 0; i < times; i++) {
      peer.stdin.write(`${line}\n`);
      await lines.next();
    }
    return (used() - before) / times;
  };
  const access = openRegistries({ environment: {}, sources: { ...NO_SOURCES, insecure: new Set(["localhost:5055"]) } });
  const vectors = readFileSync(new URL("../../test/vectors/image-validating/cases.jsonl", import.meta.url), "utf8");
  const CASES = ["signature/bundle, key without log", "signature/bundle, identity: issuer and subject"];
  console.log("\nA Pod of one image, nothing kept, a registry on loopback, milliseconds of CPU");
  for (const id of CASES) {
    const written = JSON.parse(vectors.split("\n").find((line) => line.includes(`"id":"${id}"`))!);
    const { policies, resources } = written;
    const line = JSON.stringify({ id, policies, resources });
    const unasked = JSON.stringify({ id, policies, resources: [] });
    const review: AdmissionQuestion = {
      kind: "admission",
      request: { ...request, object: resources[0] },
      requestBytes: () => new Uint8Array(),
    };
    // A reader shares what it has read for a moment.
    let reader = new ImageTrustReader(access.registry, checks);
    const unkept: ImageTrust = {
      digest: (image) => reader.digest(image, signal),
      verdict: ({ image, digest, attestor, sought }) => reader.verdict(image, digest, attestor, sought, signal),
      artifact: () => undefined,
    };
    const policy = await load(policies[0], unkept);
    const evaluate = async () => {
      reader = new ImageTrustReader(access.registry, checks);
      const outcome = await policy.evaluate(review, context);
      if (outcome.verdict !== "allow") throw new Error(JSON.stringify(outcome));
    };
    await peerAsked(line, 5);
    for (let i = 0; i < 300; i++) await evaluate();
    const figures: { ours: number; kyverno: number; ratio: number }[] = [];
    for (let round = 0; round < 7; round++) {
      const [whole, checking] = [await peerAsked(line, 20), await peerAsked(unasked, 20)];
      const [registryBefore, before] = [used(), process.cpuUsage()];
      for (let i = 0; i < 200; i++) await evaluate();
      const { user, system } = process.cpuUsage(before);
      const serving = (used() - registryBefore) / 200;
      const [ours, kyverno] = [(user + system) / 200_000, whole - checking - serving];
      figures.push({ ours, kyverno, ratio: kyverno / ours });
    }
    console.log(
      `${id}: ours ${spread(figures.map(({ ours }) => ours))}, Kyverno's ${spread(
        figures.map(({ kyverno }) => kyverno),
        1,
      )}`,
    );
    console.log(
      `  how many times as much: ${spread(
        figures.map((one) => one.ratio),
        1,
      )}`,
    );
  }
  peer.stdin.end();
  await once(peer, "exit");
  await access.close();
}
