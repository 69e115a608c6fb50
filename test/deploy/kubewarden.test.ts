import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Command } from "commander";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";
import { optionValues } from "../../src/cli/options.js";
import { serveSettings } from "../../src/cli/serve-settings.js";

/** What Kubewarden's controller sets on the pods of a PolicyServer (spec kubewarden.md 11.2). */
const CONTROLLER = {
  KUBEWARDEN_CERT_FILE: "/pki/tls.crt",
  KUBEWARDEN_KEY_FILE: "/pki/tls.key",
  KUBEWARDEN_CLIENT_CA_FILE: "/client-ca/client-ca.crt,/client-ca/other.crt",
  KUBEWARDEN_PORT: "8443",
  KUBEWARDEN_READINESS_PROBE_PORT: "8081",
  KUBEWARDEN_POLICIES: "/config/policies.yml",
  KUBEWARDEN_SOURCES_PATH: "/sources/sources.yml",
  KUBEWARDEN_POLICIES_DOWNLOAD_DIR: "/tmp",
  KUBEWARDEN_SIGSTORE_CACHE_DIR: "/tmp/sigstore-data",
  KUBEWARDEN_VERIFICATION_CONFIG_PATH: "/verification/verification-config",
  KUBEWARDEN_DOCKER_CONFIG_JSON_PATH: "/home/kubewarden/.docker",
  KUBEWARDEN_ALWAYS_ACCEPT_ADMISSION_REVIEWS_ON_NAMESPACE: "kubewarden",
  KUBEWARDEN_ENABLE_METRICS: "true",
  KUBEWARDEN_LOG_FMT: "otlp",
};

describe("in a pod of Kubewarden's controller", () => {
  test("every variable is read", () => {
    const known = new Set<string>(SERVE_OPTIONS.map(({ env }) => env));
    for (const name of Object.keys(CONTROLLER)) assert.ok(known.has(name), name);
  });

  test("they mean what they mean there", () => {
    const values = optionValues(new Command(), SERVE_OPTIONS, CONTROLLER);
    const settings = serveSettings(values);
    assert.deepEqual(settings.tls, {
      certFile: "/pki/tls.crt",
      keyFile: "/pki/tls.key",
      clientCaFiles: ["/client-ca/client-ca.crt", "/client-ca/other.crt"],
      minVersion: "TLSv1.2",
    });
    assert.deepEqual([settings.port, settings.readinessPort], [8443, 8081]);
    assert.equal(settings.alwaysAcceptNamespace, "kubewarden");
    assert.deepEqual([settings.pushMetrics, settings.traces, settings.logFormat], [true, true, "text"]);
    assert.equal(settings.loading.file, "/config/policies.yml");
    assert.equal(settings.loading.dockerConfigDirectory, "/home/kubewarden/.docker");
  });
});
