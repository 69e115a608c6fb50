/** What the end-to-end test gives to kubectl. */

/** A Pod; `spec` overrides parts of its spec, `container` parts of its one container. */
export function pod(name: string, { spec = {}, container = {} }: { spec?: object; container?: object } = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "web", image: "registry.example.com/web:1", ...container }], ...spec },
  });
}

const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["pods"] }];

function webhook(name: string, policy: string, url: string, caBundle: string, more: object = {}): object {
  return {
    name,
    rules,
    clientConfig: { url: `${url}/validate/${policy}`, caBundle },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: 10,
    ...more,
  };
}

/** Our webhooks: a group, a policy with an audit annotation, and a mutating policy. Pods labelled `skip: "yes"` are left to themselves. */
export function webhooks(url: string, caBundle: string): string {
  const matchConditions = [{ name: "not-skipped", expression: "object.metadata.?labels.?skip.orValue('no') != 'yes'" }];
  const items = [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "policy-server" },
      webhooks: [
        webhook("pods.policy-server.example.com", "pods", url, caBundle, { matchConditions }),
        webhook("annotations.policy-server.example.com", "image-annotation", url, caBundle, {
          failurePolicy: "Ignore",
        }),
      ],
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "policy-server" },
      webhooks: [webhook("owner.policy-server.example.com", "add-owner", url, caBundle)],
    },
  ];
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
