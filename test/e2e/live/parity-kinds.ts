/** The kinds that generated policies and requests are about. */

/** What requests are about: `make` gives an object with labels and a number that policies look at. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly rest: (value: number) => object;
}

export const KINDS: readonly Kind[] = [
  {
    group: "",
    version: "v1",
    resource: "configmaps",
    kind: "ConfigMap",
    rest: (n) => ({ data: { n: `${n}`, k: "v" } }),
  },
  { group: "", version: "v1", resource: "secrets", kind: "Secret", rest: (n) => ({ stringData: { n: `${n}` } }) },
  {
    ...{ group: "", version: "v1", resource: "services", kind: "Service" },
    rest: (n) => ({ spec: { ports: [{ port: 80 + n }], selector: { app: "a" } } }),
  },
  {
    ...{ group: "", version: "v1", resource: "serviceaccounts", kind: "ServiceAccount" },
    rest: (n) => ({ automountServiceAccountToken: n % 2 === 0 }),
  },
  {
    ...{ group: "", version: "v1", resource: "pods", kind: "Pod" },
    rest: (n) => ({ spec: { hostNetwork: n === 3, containers: [{ name: "c", image: `i:${n}` }] } }),
  },
  {
    ...{ group: "apps", version: "v1", resource: "deployments", kind: "Deployment" },
    rest: (n) => ({
      spec: {
        // Its controller lets it alone.
        ...{ replicas: n, paused: true },
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: `i:${n}` }] } },
      },
    }),
  },
  {
    ...{ group: "rbac.authorization.k8s.io", version: "v1", resource: "roles", kind: "Role" },
    rest: (n) => ({ rules: [{ apiGroups: [""], resources: ["pods"], verbs: n > 2 ? ["get", "list"] : ["get"] }] }),
  },
  {
    ...{ group: "parity.example.com", version: "v1", resource: "widgets", kind: "Widget" },
    rest: (n) => ({ spec: { replicas: n, colour: n > 2 ? "red" : "blue" } }),
  },
  {
    ...{ group: "parity.example.com", version: "v2", resource: "widgets", kind: "Widget" },
    rest: (n) => ({ spec: { replicas: n, colour: n > 2 ? "red" : "blue" } }),
  },
  ...["v1", "v2"].map((version) => ({
    ...{ group: "autoscaling", version, resource: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler" },
    rest: (n: number) => ({
      spec: { maxReplicas: n + 1, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "there" } },
    }),
  })),
];

export const collection = ({ group, version, resource }: Kind, namespace: string): string =>
  `${group === "" ? `/api/${version}` : `/apis/${group}/${version}`}/namespaces/${namespace}/${resource}`;

export const made = ({ group, version, kind, rest }: Kind, metadata: object, value: number): object => ({
  ...{ apiVersion: group === "" ? version : `${group}/${version}`, kind, metadata },
  ...rest(value),
});
