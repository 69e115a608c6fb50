/**
 * An API server that has many Pods and makes each page when it is asked for, in a process of its own: `node listed-cluster.js <pods>` prints where it
 * listens. Reports that are applied are counted and forgotten.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pod } from "./pods.js";

const NAMESPACES = 20;
/** As many as the API server puts into a page when nobody says it. */
const PAGE = 500;

const count = Number(process.argv[2] ?? "1000");

/** What the API server and others add to a Pod: it is about as large as what people write. */
const managedFields = [
  {
    manager: "kube-controller-manager",
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: fields(20),
  },
  {
    manager: "kubelet",
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: fields(12),
    subresource: "status",
  },
];
const status = {
  phase: "Running",
  podIP: "10.0.0.1",
  conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  })),
  containerStatuses: [
    {
      name: "web",
      ready: true,
      restartCount: 0,
      image: "registry.acme.example/apps/web:1.1.1",
      state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
    },
  ],
};

function fields(number: number): unknown {
  return {
    "f:metadata": {
      "f:labels": Object.fromEntries(Array.from({ length: number }, (_, i) => [`f:label-number-${i}`, {}])),
    },
  };
}

function text(i: number): string {
  const { apiVersion: _, kind: __, metadata, ...others } = pod(i) as Record<string, unknown>;
  const uid = `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
  const own = {
    ...(metadata as object),
    uid,
    resourceVersion: String(1000 + i),
    creationTimestamp: "2026-01-01T00:00:00Z",
    managedFields,
  };
  return JSON.stringify({ metadata: own, ...others, status });
}

function answer(response: ServerResponse, body: string, code = 200): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(body);
}

const resource = (name: string, kind: string, namespaced: boolean) => ({
  name,
  kind,
  namespaced,
  verbs: ["get", "list", "patch", "delete"],
});
const group = {
  name: "openreports.io",
  versions: [{ groupVersion: "openreports.io/v1alpha1" }],
  preferredVersion: { groupVersion: "openreports.io/v1alpha1" },
};
const STILL: Readonly<Record<string, unknown>> = {
  "/apis": { groups: [group] },
  "/api/v1": { resources: [resource("pods", "Pod", true), resource("namespaces", "Namespace", false)] },
  "/apis/openreports.io/v1alpha1": {
    resources: [resource("reports", "Report", true), resource("clusterreports", "ClusterReport", false)],
  },
  "/api/v1/namespaces": {
    metadata: { resourceVersion: "1" },
    items: Array.from({ length: NAMESPACES }, (_, i) => ({
      metadata: { name: `team-${i}`, resourceVersion: "1", labels: { "kubernetes.io/metadata.name": `team-${i}` } },
    })),
  },
};

let written = 0;
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  if (request.method !== "GET") {
    request.resume();
    written += 1;
    answer(response, "{}");
    return;
  }
  const still = STILL[url.pathname];
  if (still !== undefined) return answer(response, JSON.stringify(still));
  if (url.pathname !== "/api/v1/pods")
    return answer(response, JSON.stringify({ metadata: { resourceVersion: String(written) }, items: [] }));
  const from = Number(url.searchParams.get("continue") ?? "0");
  const to = Math.min(count, from + Number(url.searchParams.get("limit") ?? PAGE));
  const items: string[] = [];
  for (let i = from; i < to; i++) items.push(text(i));
  const more = to < count ? `"continue":"${to}","remainingItemCount":${count - to},` : "";
  answer(
    response,
    `{"kind":"PodList","apiVersion":"v1","metadata":{${more}"resourceVersion":"1"},"items":[${items.join(",")}]}`,
  );
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.on("disconnect", () => process.exit(0));
