/** The private services: a registry, Rekor 1 and 2, a CT log, Fulcio and a timestamp authority, and the trust roots for them. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import * as common from "../sigstore-golden/common.mjs";
import { GITHUB, ISSUER } from "./images.mjs";

export const HOST = "localhost:5055";
const port = { issuer: 5056, fulcio: 5057, fulcioWithout: 5067, ct: 5070, tsa: 5071, rekor1: 5073, rekor2: 5080 };
const local = (number) => `http://localhost:${number}`;
/** Where the services answer. `fulcioWithout` is the same authority without a CT log. */
export const AT = Object.fromEntries(Object.entries(port).map(([name, number]) => [name, local(number)]));

const withEquals = (all) => Object.entries(all).map(([name, value]) => `--${name}=${value}`);

/** Starts the registry, the logs and Fulcio, and returns the key and name of Rekor 2. */
export async function startServices(shop) {
  shop.start(
    "image-golden",
    "serve",
    ...withEquals({ registry: HOST, rekor: `localhost:${port.rekor1}`, ct: `localhost:${port.ct}`, keys: shop.folder }),
  );
  const url = "{{ .url }}";
  const workflow = {
    "default-template-values": { url: "https://github.com" },
    "extension-templates": {
      "github-workflow-trigger": "event_name",
      "github-workflow-sha": "sha",
      "github-workflow-name": "workflow",
      "github-workflow-repository": "repository",
      "github-workflow-ref": "ref",
      "build-signer-uri": `${url}/{{ .job_workflow_ref }}`,
      "build-signer-digest": "job_workflow_sha",
      "runner-environment": "runner_environment",
      "source-repository-uri": `${url}/{{ .repository }}`,
      "source-repository-digest": "sha",
      "source-repository-ref": "ref",
      "source-repository-identifier": "repository_id",
      "source-repository-owner-uri": `${url}/{{ .repository_owner }}`,
      "source-repository-owner-identifier": "repository_owner_id",
      "build-config-uri": `${url}/{{ .workflow_ref }}`,
      "build-config-digest": "workflow_sha",
      "build-trigger": "event_name",
      "run-invocation-uri": `${url}/{{ .repository }}/actions/runs/{{ .run_id }}/attempts/{{ .run_attempt }}`,
      "source-repository-visibility-at-signing": "repository_visibility",
    },
    "subject-alternative-name-template": `${url}/{{ .job_workflow_ref }}`,
  };
  const client = { "client-id": "sigstore" };
  // JSON is YAML, but as JSON the names would be others: the comment makes it YAML.
  const config = `# YAML\n${JSON.stringify({
    "oidc-issuers": {
      [ISSUER]: { "issuer-url": ISSUER, ...client, type: "email" },
      [GITHUB.iss]: { "issuer-url": GITHUB.iss, ...client, type: "ci-provider", "ci-provider": "github-workflow" },
    },
    "ci-issuer-metadata": { "github-workflow": workflow },
  })}`;
  const fulcio = {
    ca: "fileca",
    "fileca-cert": shop.path("fulcio.pem"),
    "fileca-key": shop.path("fulcio.key"),
    "fileca-key-passwd": "x",
    "fileca-watch": false,
    "config-path": shop.write("fulcio.yaml", config),
  };
  for (const [number, log] of [
    [port.fulcio, `${local(port.ct)}/log`],
    [port.fulcioWithout, ""],
  ]) {
    const all = {
      ...fulcio,
      "ct-log-url": log,
      port: number,
      "grpc-port": number + 1,
      "metrics-port": number + 2,
      "legacy-unix-domain-socket": shop.path(`${number}.sock`),
    };
    shop.start("fulcio", "serve", ...withEquals(all));
  }
  const rekor2 = common.startRekor(shop, port.rekor2);
  const bundles = [AT.fulcio, AT.fulcioWithout].map((address) => `${address}/api/v2/trustBundle`);
  for (const url of [`http://${HOST}/v2/`, `${AT.rekor1}/api/v1/log`, ...bundles]) await common.until(url);
  return rekor2;
}

/** Starts the timestamp authority; the port of its metrics is fixed, so that there is one at a time. */
export async function startAuthority(shop, withChain) {
  const all = {
    port: port.tsa,
    "disable-ntp-monitoring": true,
    "timestamp-signer": "file",
    "file-signer-key-path": shop.path("tsa.key"),
    "certificate-chain-path": shop.path("tsa.pem"),
    "include-chain-in-response": withChain,
  };
  const service = shop.start("timestamp-server", "serve", ...withEquals(all));
  await common.until(`${AT.tsa}/ping`);
  return {
    async end() {
      const ended = new Promise((end) => service.once("exit", end));
      service.kill("SIGKILL");
      await ended;
    },
  };
}

/** Writes the trust roots: the one of the services, one of other services, and one whose authority of identities is the own root. */
export function writeTrust(shop, rekor2) {
  const chain = (name) => common.certificatesIn(shop.read(name));
  const keyed = (name, text) => common.keyedLog({ name, key: createPublicKey(text) });
  const services = {
    tlogs: [common.tileLog(rekor2), keyed("rekor1.test", shop.read("rekor1.pub"))],
    ctlogs: [keyed("ct.test", shop.read("ct.pub"))],
    timestamps: [chain("tsa.pem")],
  };
  const stranger = () =>
    generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "pem" });
  const roots = {
    "": common.trustedRootOf({ ...services, fulcio: [chain("fulcio.pem")] }),
    "-own": common.trustedRootOf({ ...services, fulcio: [chain("certificates/own-chain.pem")] }),
    "-other": common.trustedRootOf({
      tlogs: [keyed("rekor1.test", stranger())],
      ctlogs: [keyed("ct.test", stranger())],
      timestamps: [chain("other-tsa.pem")],
      fulcio: [chain("other-fulcio.pem")],
    }),
  };
  for (const [name, root] of Object.entries(roots)) {
    shop.write(`trusted-root${name}.json`, `${JSON.stringify(root, undefined, 1)}\n`);
    shop.write(`trust${name}.json`, `${JSON.stringify(common.clientTrust(root), undefined, 1)}\n`);
  }
}
