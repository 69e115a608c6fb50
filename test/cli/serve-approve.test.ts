/** `serve --approve` as a user starts it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, type TestContext, test } from "node:test";
import { certificateRequest, conditionsOf, REQUESTS } from "../cluster/approver/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { until } from "../kubernetes/client/support.js";
import { startExample } from "../support/example-server.js";

const CERTIFICATES = `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata: { name: internal }
spec: { selector: { issuerRef: { name: issuer } } }
`;

/** What stands in place of a CSR: not decoded where no policy is for the request, an error where one is. */
const NO_CSR = Buffer.from("no CSR").toString("base64");

async function cluster(context: TestContext) {
  const server = await FakeApiServer.start(context);
  server.file("certificates.yaml", CERTIFICATES);
  const policies = server.file(
    "policies.yaml",
    `certificates: { resource: certificates.yaml, certificateRequests: { binding: assume-bound } }
warns: { resource: certificates.yaml, certificateRequests: { binding: assume-bound }, validationActions: [Warn, Audit] }
other: { cel: { validations: [{ expression: 'true' }] } }
`,
  );
  return { server, policies, kubeconfig: server.kubeconfig() };
}

describe("serve --approve", () => {
  for (const workers of ["1", "2"]) {
    test(`with ${workers} process(es) one of them reviews by the policies that it names`, async (context) => {
      const { server, policies, kubeconfig } = await cluster(context);
      const spec = { request: NO_CSR, issuerRef: { name: "issuer" } };
      server.put(REQUESTS, certificateRequest("unreadable", { spec }));
      server.put(REQUESTS, certificateRequest("another", { spec: { ...spec, issuerRef: { name: "another" } } }));
      const options = ["--policies", policies, "--kubeconfig", kubeconfig, "--workers", workers];
      const example = await startExample(...options, "--approve", "certificates");
      try {
        await until("the events", () => server.objects("events").length === 2);
        const reasons = server.objects("events").map(({ reason, regarding }) => [regarding, reason] as const);
        assert.deepEqual(
          reasons.map(([regarding, reason]) => `${(regarding as { name: string }).name} ${String(reason)}`).sort(),
          ["another Unprocessed", "unreadable EvaluationError"],
        );
        assert.equal(server.asked("GET /apis/cert-manager.io/v1/certificaterequests?limit").length, 1);
        // The log is another stream than the events.
        await until("the log", () => example.log().includes("no PEM data was found in given input"));
        assert.deepEqual([conditionsOf(server, "unreadable"), server.patches], [[], []]);
      } finally {
        assert.equal(await example.stop(), 0);
      }
    });
  }

  test("goes on serving, and says why nothing is approved, when its policy is gone from the file before any reload", async (context) => {
    const { policies, kubeconfig } = await cluster(context);
    const options = ["--policies", policies, "--kubeconfig", kubeconfig, "--workers", "2", "--disable-policy-watch"];
    const example = await startExample(...options, "--approve", "certificates");
    const serving = () => Array.from(example.log().matchAll(/serving policies.* pid=(\d+)/g), ([, pid]) => Number(pid));
    try {
      await until("both", () => serving().length === 2);
      writeFileSync(policies, "{}\n");
      for (const pid of serving()) process.kill(pid, "SIGKILL");
      await until("successors", () => serving().length === 4);
      await until("why", () => /no CertificateRequest is approved or denied.*which is not there/.test(example.log()));
    } finally {
      assert.equal(await example.stop(), 0);
    }
  });

  test("cannot start where nobody could approve", async (context) => {
    const { policies, kubeconfig, server } = await cluster(context);
    const file = server.file("empty-kubeconfig", "{}");
    for (const [approve, config, problem] of [
      ["nope", kubeconfig, /Error: --approve names the policy "nope", which is not there/],
      [
        "other",
        kubeconfig,
        /Error: the policy "other" of --approve is not an entry of CertificateRequestPolicies alone/,
      ],
      ["warns", kubeconfig, /Error: the policy "warns" of --approve has validationActions without Deny: it only warns/],
      ["certificates", file, /Error: --approve needs a cluster: .*empty-kubeconfig/],
    ] as const) {
      const options = ["--policies", policies, "--kubeconfig", config, "--workers", "1", "--approve", approve];
      await assert.rejects(startExample(...options, "--ignore-kubernetes-connection-failure"), problem);
    }
  });
});
