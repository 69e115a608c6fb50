import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { loadConfig } from "../../src/config/index.js";
import { written } from "../support/written.js";
import { type Deployed, everySet, type KubernetesObject, ofKind, only, type Webhook } from "./objects.js";

for (const deployed of everySet()) {
  describe(deployed.name, () => {
    // Undefined when the policies are in a ConfigMap of the user's own.
    const mounted = ofKind(deployed, "ConfigMap").find(({ data }) => data?.["policies.yml"])?.data;
    const policies = mounted?.["policies.yml"];

    test("policies.yml has no mistake", () =>
      withFile(mounted, async (file) => {
        const read = loadConfig(file);
        assert.ok(read.ok);
        assert.deepEqual(read.problems, []);
        // Modules are not pulled here.
        if (/^\s+module: registry:/m.test(policies ?? "")) return;
        const stdout = new PassThrough();
        const exitCode = await runCommandLine(["check", file, "--allow-empty"], {
          env: {},
          stdin: new PassThrough(),
          stdout,
          stderr: stdout,
        });
        assert.equal(exitCode, 0, written(stdout));
      }));

    test("webhooks ask for policies that are served, through the service, under its certificate", () =>
      withFile(mounted, (file) => {
        const read = loadConfig(file);
        assert.ok(read.ok);
        const served = new Set(read.config.entries.map(({ id }) => id));
        const service = only(deployed, "Service").metadata;
        for (const { name, clientConfig } of webhooksOf(deployed)) {
          const [, policy = ""] = /^\/validate\/(.+)$/.exec(clientConfig.service.path) ?? [];
          assert.ok(policies === undefined || served.has(policy), `${name}: ${clientConfig.service.path}`);
          assert.deepEqual(
            [clientConfig.service.name, clientConfig.service.namespace],
            [service.name, service.namespace],
          );
          assert.ok(name.split(".").length >= 3, `${name}: the API server wants three parts`);
        }
        const names = webhooksOf(deployed).map(({ name }) => name);
        // With policies from the cluster the server makes the webhooks itself.
        assert.equal(names.length > 0, policies !== "{}\n" && !fromCluster(deployed));
        assert.deepEqual(names, [...new Set(names)]);
      }));

    test("the API server trusts the certificate: by an annotation for cert-manager, or by a bundle", () => {
      const certificate = deployed.objects.find(
        ({ kind, spec }) => kind === "Certificate" && spec.dnsNames !== undefined,
      );
      const { name, namespace } = only(deployed, "Service").metadata;
      if (certificate === undefined) {
        for (const { clientConfig } of webhooksOf(deployed)) {
          assert.match(Buffer.from(clientConfig.caBundle ?? "", "base64").toString(), /^-----BEGIN CERTIFICATE-----/);
        }
        return;
      }
      assert.ok((certificate.spec.dnsNames as unknown as string[]).includes(`${name}.${namespace}.svc`));
      const secret = fromCluster(deployed) ? argument(deployed, "tls-secret") : certificateSecret(deployed);
      assert.equal(certificate.spec.secretName, secret);
      // Of plain manifests kustomize adds the annotation.
      for (const { metadata } of deployed.name.startsWith("Helm") ? configurationsOf(deployed) : []) {
        const source = metadata.annotations?.["cert-manager.io/inject-ca-from"];
        assert.equal(source, `${certificate.metadata.namespace}/${certificate.metadata.name}`);
      }
    });

    test("the server's own namespace never waits for the server, and nobody waits longer than may be", () => {
      const { namespace } = only(deployed, "Deployment").metadata;
      for (const { name, namespaceSelector, timeoutSeconds } of webhooksOf(deployed)) {
        const exempt = namespaceSelector.matchExpressions.find(
          ({ key, operator }) => key === "kubernetes.io/metadata.name" && operator === "NotIn",
        );
        assert.ok(namespace !== undefined && exempt?.values?.includes(namespace), name);
        assert.ok(timeoutSeconds >= 1 && timeoutSeconds <= 30, name);
      }
    });
  });
}

function argument(deployed: Deployed, flag: string): string | undefined {
  const args = only(deployed, "Deployment").spec.template?.spec?.containers?.[0]?.args as unknown as string[];
  return args.find((one) => one.split("=")[0] === `--${flag}`)?.slice(flag.length + 3);
}

function fromCluster(deployed: Deployed): boolean {
  return argument(deployed, "from-cluster") !== undefined;
}

function configurationsOf({ objects }: Deployed): KubernetesObject[] {
  return objects.filter(({ kind }) => kind.endsWith("WebhookConfiguration"));
}

function webhooksOf(deployed: Deployed): Webhook[] {
  return configurationsOf(deployed).flatMap(({ webhooks = [] }) => webhooks);
}

function certificateSecret(deployed: Deployed): unknown {
  const volumes = only(deployed, "Deployment").spec.template?.spec?.volumes as unknown;
  assert.ok(Array.isArray(volumes));
  return volumes.find(({ name }: { name: string }) => name === "certificate")?.secret.secretName;
}

/** With the files that the pod finds beside policies.yml. */
async function withFile(
  mounted: Readonly<Record<string, string>> | undefined,
  work: (file: string) => void | Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "deploy-"));
  try {
    for (const [name, content] of Object.entries(mounted ?? { "policies.yml": "{}" }))
      writeFileSync(join(folder, name), content);
    await work(join(folder, "policies.yml"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
