/**
 * A real API server asks our server about a policies file, and kubectl shows what a person sees. With `--write` what kubectl printed goes into
 * docs/kubernetes.md.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../cluster.js";
import { pod, webhooks } from "../manifests.js";
import { ROOT, type Stage } from "./stage.js";

const POLICIES = join(ROOT, "test/e2e/policies.yaml");
/** Fixed, so that what is in the document does not change. */
const PORT = 14_443;
const LABELS = "create -f - -o jsonpath={.metadata.labels}";
const OWNER = /"team.example.com\/owner":"platform"/;

interface Scene {
  readonly title: string;
  readonly command: string;
  readonly printed: string;
}

export async function seenByKubectl(stage: Stage): Promise<void> {
  const { cluster, folder } = stage;
  const { cert, key } = await makeCertificate(folder);
  const serve = () => stage.serve("--policies", POLICIES, "--port", `${PORT}`, "--cert-file", cert, "--key-file", key);
  const scenes: Scene[] = [];
  /** One command as a person would type it, and what it must print. */
  const scene = async (title: string, args: string, input: string, expected: RegExp): Promise<void> => {
    const { text } = await cluster.kubectl(args.split(" "), input);
    scenes.push({ title, command: `kubectl ${args.replace("-f -", "-f pod.yaml")}`, printed: text });
    console.log(`\n## ${title}\n$ kubectl ${args}\n${text}`);
    assert.match(text, expected, title);
  };
  const claim = (...[title, ...more]: Parameters<typeof scene>) => stage.claim(title, () => scene(title, ...more));

  let server = await serve();
  try {
    const caBundle = readFileSync(cert).toString("base64");
    await stage.kubectl(["apply", "-f", "-"], webhooks(`https://127.0.0.1:${PORT}`, caBundle));
    await stage.kubectl(["create", "namespace", "sandbox"]);
    const untrusted = pod("stranger", { container: { image: "nginx:1" } });
    await stage.claim("the webhooks come into force", async () => {
      await stage.until("a denial", () => stage.denies(["create", "--dry-run=server", "-f", "-"], untrusted));
    });

    await claim("A pod that is allowed, and changed", LABELS, pod("good"), OWNER);
    const denial =
      /Warning: trusted was rejected: image nginx:1 is not from a trusted registry[\s\S]*Warning: no_host_network was not evaluated[\s\S]*admission webhook "pods.policy-server.example.com" denied the request: the pod is not allowed/;
    await claim("A denial, with a line for each member", "create -f -", untrusted, denial);
    await claim("The same through apply", "apply -f -", untrusted, denial);
    await claim("The same as a dry run", "create --dry-run=server -f -", untrusted, denial);
    const host = pod("netty", { spec: { hostNetwork: true } });
    await claim("Two members deny", "create -f -", host, /no_host_network was rejected: hostNetwork is not allowed/);
    await claim(
      "A sandbox may: the warning stays, the pod is made",
      "create -n sandbox -f -",
      host,
      /Warning: no_host_network was rejected[\s\S]*pod\/netty created/,
    );
    const skipped = JSON.parse(untrusted) as { metadata: object };
    const labelled = JSON.stringify({ ...skipped, metadata: { ...skipped.metadata, labels: { skip: "yes" } } });
    await stage.claim("Match conditions of the webhook leave a pod alone that it would deny", async () => {
      await stage.refused(["create", "-f", "-"], untrusted);
      const title = "matchConditions of the webhook leave this pod alone";
      await scene(title, "create -f -", labelled, /pod\/stranger created/);
    });

    await stage.claim("An audit annotation is in the audit log", async () => {
      const annotation = /"annotations\.policy-server\.example\.com\/[^"]*images":"[^"]*"/;
      const line = cluster.auditLog().find((entry) => annotation.test(entry)) ?? "";
      const [printed = ""] = annotation.exec(line) ?? [];
      assert.notEqual(printed, "", "an annotation with images");
      scenes.push({ title: "An audit annotation in the audit log", command: "grep images audit.log", printed });
    });

    await stage.claim("Without an answer the failure policy decides, and then our server does again", async () => {
      assert.equal(await server.stop(), 0);
      const away = "Our server is away, failurePolicy is Fail";
      await scene(away, "create -f -", pod("away"), /failed calling webhook/);
      server = await serve();
      await scene("Our server is back", LABELS, pod("back"), OWNER);
    });
    if (process.argv.includes("--write")) writeDocument(scenes);
  } finally {
    await server.stop();
    await stage.kubectl(["delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "policy-server"]);
  }
}

function writeDocument(scenes: readonly Scene[]): void {
  const file = join(ROOT, "docs/kubernetes.md");
  const blocks = scenes.map(({ title, command, printed }) => `${title}:\n\n\`\`\`\n$ ${command}\n${printed}\n\`\`\`\n`);
  const text = readFileSync(file, "utf8");
  const start = text.indexOf("<!-- scenes -->");
  writeFileSync(file, `${text.slice(0, start)}<!-- scenes -->\n\n${blocks.join("\n")}`);
}
