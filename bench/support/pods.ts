/** Pods in number, each a little different, most of them as the rules of `pod-rules.ts` want them. */
import { closeSync, openSync, writeSync } from "node:fs";
import { stringify } from "yaml";
import type { JsonObject } from "../../src/kubernetes/object.js";

const TEAMS = ["payments", "search", "identity", "billing", "platform"];
/** Every so many Pods one breaks rules. */
const BAD_EVERY = 10;
/** Characters that are written at a time. */
const CHUNK = 1 << 20;

function container(name: string, i: number, bad: boolean): JsonObject {
  return {
    name,
    image: bad ? `docker.io/${name}:latest` : `registry.acme.example/apps/${name}:1.${i % 40}.${i % 7}`,
    args: ["--port=8080", `--shard=${i % 64}`],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "LOG_LEVEL", value: "info" },
    ],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, ...(!bad && { limits: { cpu: "1", memory: "512Mi" } }) },
    securityContext: {
      privileged: bad,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"], ...(i % 3 === 0 && { add: ["NET_BIND_SERVICE"] }) },
    },
    livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10 },
    readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 5 },
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
}

const spec = (i: number, bad: boolean): JsonObject => ({
  serviceAccountName: `app-${i % 100}`,
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  containers: [container("web", i, bad), ...(i % 2 === 0 ? [container("proxy", i, false)] : [])],
  volumes: [
    { name: "tmp", emptyDir: {} },
    { name: "settings", configMap: { name: `settings-${i % 50}` } },
  ],
});

const labels = (i: number): JsonObject => ({ app: `app-${i % 100}`, team: TEAMS[i % TEAMS.length], env: "prod" });

/** Pod `i`. */
export const pod = (i: number): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `app-${i}`, namespace: `team-${i % 20}`, labels: labels(i) },
  spec: spec(i, i % BAD_EVERY === BAD_EVERY - 1),
});

/** A Deployment that meets all rules, or not. */
export const deployment = (bad: boolean): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "app", namespace: "team-0", labels: labels(0) },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "app-0" } },
    template: { metadata: { labels: labels(0) }, spec: spec(0, bad) },
  },
});

/** How Pods are written. */
export type PodFormat = "yaml" | "json lines" | "json list";

const FORMATS: Readonly<Record<PodFormat, { readonly around: readonly [string, string]; one(i: number): string }>> = {
  yaml: { around: ["", ""], one: (i) => `---\n${stringify(pod(i))}` },
  "json lines": { around: ["", ""], one: (i) => `${JSON.stringify(pod(i))}\n` },
  "json list": {
    around: ['{"apiVersion":"v1","kind":"List","items":[\n', "\n]}\n"],
    one: (i) => `${i === 0 ? "" : ",\n"}${JSON.stringify(pod(i))}`,
  },
};

/** Writes the first `count` Pods into a file. */
export function writePods(file: string, count: number, format: PodFormat): string {
  const { around, one } = FORMATS[format];
  const to = openSync(file, "w");
  try {
    let text = around[0];
    for (let i = 0; i < count; i++) {
      text += one(i);
      if (text.length < CHUNK) continue;
      writeSync(to, text);
      text = "";
    }
    writeSync(to, text + around[1]);
  } finally {
    closeSync(to);
  }
  return file;
}
