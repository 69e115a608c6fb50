import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clusterSettings as settingsOf } from "../../src/cli/cluster-settings.js";
import { SERVE_DEFAULTS, type ServeValues } from "../../src/cli/options.js";
import { serveSettings } from "../../src/cli/serve-settings.js";

const GIVEN = { fromCluster: true, certFile: "tls.crt", replicaName: "one" };

const clusterSettings = (values: Partial<ServeValues>) => settingsOf({ ...SERVE_DEFAULTS, ...values });

function refused(values: Partial<ServeValues>): string {
  try {
    clusterSettings(values);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "taken";
}

describe("the options of --from-cluster", () => {
  test("are settings", () => {
    const settings = clusterSettings({
      ...GIVEN,
      ...{ service: "ops/gate", webhookUrl: "https://gate.example:8443", auditInterval: 60, events: true },
      ignoreKubernetesConnectionFailure: true,
    });
    assert.deepEqual(settings?.service, { namespace: "ops", name: "gate" });
    assert.equal(settings?.webhookUrl, "https://gate.example:8443");
    assert.deepEqual(
      [settings?.policyServer, settings?.replica, settings?.auditInterval, settings?.events],
      ["default", "one", 60_000, true],
    );
    assert.deepEqual([settings?.manageWebhooks, settings?.readyWithoutSources], [true, true]);
    const rarely = clusterSettings({ ...GIVEN, auditInterval: 10_000_000 });
    assert.equal(rarely?.auditInterval, 2 ** 31 - 1, "longer timers fire at once");
  });

  test("name the namespace whose Secrets are log-ins of registries", () => {
    const cluster = { fromCluster: true, manageWebhooks: "false", replicaName: "one" } as const;
    assert.equal(serveSettings({ ...SERVE_DEFAULTS, ...cluster, service: "ops/gate" }).loading.namespace, "ops");
    assert.equal(serveSettings({ ...SERVE_DEFAULTS, ...cluster }).loading.namespace, "policy-server");
    assert.equal(serveSettings(SERVE_DEFAULTS).loading.namespace, undefined);
  });

  test("mean nothing without it", () => {
    assert.equal(clusterSettings({ manageWebhooks: "true", auditInterval: 3600, owner: "policy-server" }), undefined);
    assert.match(refused({ service: "a/b" }), /--service: needs --from-cluster/);
    assert.match(refused({ enforceAdmissionPolicies: true }), /--enforce-admission-policies: needs --from-cluster/);
  });

  test("want a certificate where webhooks are made, and one place for it", () => {
    assert.match(refused({ fromCluster: true, replicaName: "one" }), /HTTPS only/);
    assert.equal(refused({ fromCluster: true, replicaName: "one", manageWebhooks: "false" }), "taken");
    assert.equal(refused({ fromCluster: true, replicaName: "one", tlsSecret: "tls" }), "taken");
    assert.match(refused({ ...GIVEN, tlsSecret: "tls" }), /--tls-secret: cannot be used together with --cert-file/);
  });

  test("are refused where they cannot be meant", () => {
    for (const service of ["gate", "a/b/c", "A/b", "/b"])
      assert.match(refused({ ...GIVEN, service }), /is not <namespace>\/<name>/);
    for (const webhookUrl of ["http://gate", "https://gate/path", "https://gate?x", "https://me@gate", "gate"])
      assert.match(refused({ ...GIVEN, webhookUrl }), /is not https:\/\/<host>:<port>/);
    assert.match(refused({ ...GIVEN, replicaName: "One_1" }), /--replica-name: 'One_1' cannot be part of a name/);
    assert.match(refused({ ...GIVEN, policyServerName: "x".repeat(64) }), /--policy-server-name/);
  });
});
