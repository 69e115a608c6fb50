/**
 * The end-to-end test: a real API server asks our server, and kubectl shows what a person sees. `npm run e2e`; needs Go and openssl, takes minutes the first
 * time. With `--write` what kubectl printed goes into docs/kubernetes.md.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ExampleServer, startExample } from "../support/example-server.js";
import { Cluster, makeCertificate } from "./cluster.js";
import { pod, webhooks } from "./manifests.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const policies = join(root, "test/e2e/policies.yaml");
const PORT = 14_443;

interface Scene {
  readonly title: string;
  readonly command: string;
  readonly printed: string;
}

const scenes: Scene[] = [];
const folder = mkdtempSync(join(tmpdir(), "e2e-"));
const { cert, key } = await makeCertificate(folder);
const serve = (): Promise<ExampleServer> =>
  startExample("--policies", policies, "--port", `${PORT}`, "--cert-file", cert, "--key-file", key);

const cluster = await Cluster.start();
let server = await serve();
try {
  /** One command as a person would type it, and what it must print. */
  const scene = async (title: string, args: string, input: string, expected: RegExp): Promise<string> => {
    const { text } = await cluster.kubectl(args.split(" "), input);
    scenes.push({ title, command: `kubectl ${args.replace("-f -", "-f pod.yaml")}`, printed: text });
    console.log(`\n## ${title}\n$ kubectl ${args}\n${text}`);
    assert.match(text, expected, title);
    return text;
  };

  const caBundle = readFileSync(cert).toString("base64");
  const applied = await cluster.kubectl(["apply", "-f", "-"], webhooks(`https://127.0.0.1:${PORT}`, caBundle));
  assert.equal(applied.code, 0, applied.text);
  await cluster.kubectl(["create", "namespace", "sandbox"]);
  await ready(cluster);

  await scene(
    "A pod that is allowed, and changed",
    "create -f - -o jsonpath={.metadata.labels}",
    pod("good"),
    /"team.example.com\/owner":"platform"/,
  );
  const untrusted = pod("stranger", { container: { image: "nginx:1" } });
  const denial =
    /Warning: trusted was rejected: image nginx:1 is not from a trusted registry[\s\S]*Warning: no_host_network was not evaluated[\s\S]*admission webhook "pods.policy-server.example.com" denied the request: the pod is not allowed/;
  await scene("A denial, with a line for each member", "create -f -", untrusted, denial);
  await scene("The same through apply", "apply -f -", untrusted, denial);
  await scene("The same as a dry run", "create --dry-run=server -f -", untrusted, denial);
  const host = pod("netty", { spec: { hostNetwork: true } });
  await scene("Two members deny", "create -f -", host, /no_host_network was rejected: hostNetwork is not allowed/);
  await scene(
    "A sandbox may: the warning stays, the pod is made",
    "create -n sandbox -f -",
    host,
    /Warning: no_host_network was rejected[\s\S]*pod\/netty created/,
  );
  const skipped = JSON.parse(untrusted) as { metadata: object };
  await scene(
    "matchConditions of the webhook leave this pod alone",
    "create -f -",
    JSON.stringify({ ...skipped, metadata: { ...skipped.metadata, labels: { skip: "yes" } } }),
    /pod\/stranger created/,
  );

  const annotation = '"annotations.policy-server.example.com/inline/images":"registry.example.com/web:1"';
  const line = cluster.auditLog().find((entry) => /annotations\.policy-server\.example\.com\/[^"]*images"/.test(entry));
  assert.ok(line !== undefined, `no audit annotation like ${annotation}`);
  const shown = /"annotations\.policy-server\.example\.com\/[^"]*images":"[^"]*"/.exec(line)?.[0] ?? "";
  scenes.push({ title: "An audit annotation in the audit log", command: "grep images audit.log", printed: shown });
  console.log(`\n## audit\n${shown}`);

  assert.equal(await server.stop(), 0);
  await scene("Our server is away, failurePolicy is Fail", "create -f -", pod("away"), /failed calling webhook/);
  server = await serve();
  await scene("Our server is back", "create -f -", pod("back"), /pod\/back created/);
  console.log(`\n${scenes.length} scenes passed`);
  if (process.argv.includes("--write")) writeDocument();
} finally {
  await server.stop();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** A changed webhook configuration is in force after a moment. */
async function ready(running: Cluster): Promise<void> {
  let last = "";
  for (let attempt = 0; attempt < 50; attempt++) {
    const probe = pod("probe", { container: { image: "nginx:1" } });
    const { text } = await running.kubectl(["create", "--dry-run=server", "-f", "-"], probe);
    if (text.includes("denied the request")) return;
    last = text;
    await sleep(100);
  }
  throw new Error(`the webhooks never came into force: ${last}`);
}

function writeDocument(): void {
  const file = join(root, "docs/kubernetes.md");
  const blocks = scenes.map(({ title, command, printed }) => `${title}:\n\n\`\`\`\n$ ${command}\n${printed}\n\`\`\`\n`);
  const text = readFileSync(file, "utf8");
  const start = text.indexOf("<!-- scenes -->");
  writeFileSync(file, `${text.slice(0, start)}<!-- scenes -->\n\n${blocks.join("\n")}`);
}
