/** Rules about Pods in Kyverno's old language: patterns, and the rules of `pod-rules.ts` as `validate.cel`. */
import type { JsonObject } from "../../src/kubernetes/object.js";
import { kyvernoPolicies } from "./pod-rules.js";

/** The forms of old policies that are measured. */
export const OLD_FORMS = ["pattern", "cel"] as const;
export type OldForm = (typeof OLD_FORMS)[number];

const containers = (pattern: JsonObject): JsonObject => ({
  spec: {
    "=(ephemeralContainers)": [pattern],
    "=(initContainers)": [pattern],
    containers: [pattern],
  },
});
const labels = (pattern: JsonObject): JsonObject => ({ metadata: { labels: pattern } });
const context = (pattern: JsonObject): JsonObject => containers({ "=(securityContext)": pattern });

const PATTERNS: Readonly<Record<string, JsonObject>> = {
  "disallow-privileged": context({ "=(privileged)": "false" }),
  "disallow-host-namespaces": { spec: { "=(hostPID)": "false", "=(hostIPC)": "false", "=(hostNetwork)": "false" } },
  "disallow-host-path": { spec: { "=(volumes)": [{ "X(hostPath)": "null" }] } },
  "disallow-host-ports": containers({ "=(ports)": [{ "=(hostPort)": 0 }] }),
  "disallow-privilege-escalation": containers({ securityContext: { allowPrivilegeEscalation: "false" } }),
  "require-non-root": { spec: { securityContext: { runAsNonRoot: true } } },
  "require-user": { spec: { "=(securityContext)": { "=(runAsUser)": ">0" } } },
  "require-user-of-containers": context({ "=(runAsUser)": ">0" }),
  "require-read-only": containers({ securityContext: { readOnlyRootFilesystem: true } }),
  "require-tag": containers({ image: "*:*" }),
  "disallow-latest": containers({ image: "!*:latest" }),
  "restrict-registries": containers({ image: "registry.acme.example/* | mirror.acme.example/*" }),
  "require-limits": containers({ resources: { limits: { cpu: "?*", memory: "?*" } } }),
  "limit-memory": containers({ "=(resources)": { "=(limits)": { "=(memory)": "<4Gi" } } }),
  "require-probes": {
    spec: { containers: [{ livenessProbe: { periodSeconds: ">0" }, readinessProbe: { periodSeconds: ">0" } }] },
  },
  "require-app": labels({ app: "?*" }),
  "require-team": labels({ team: "payments | search | identity | billing | platform" }),
  "disallow-token-mount": { spec: { automountServiceAccountToken: "false" } },
  "restrict-seccomp": { spec: { securityContext: { seccompProfile: { type: "RuntimeDefault | Localhost" } } } },
  "restrict-names": { metadata: { name: "?*" } },
};

/** Twenty ClusterPolicies of one form. */
export function oldPolicies(form: OldForm): readonly JsonObject[] {
  if (form === "pattern")
    return Object.entries(PATTERNS).map(([name, pattern]) => policy(name, { message: `${name} says no`, pattern }));
  return kyvernoPolicies().map(({ metadata, spec }) => {
    const { variables, validations } = spec as { variables?: unknown; validations: unknown };
    return policy((metadata as { name: string }).name, {
      cel: { ...(variables !== undefined && { variables }), expressions: validations },
    });
  });
}

const policy = (name: string, validate: JsonObject): JsonObject => ({
  apiVersion: "kyverno.io/v1",
  kind: "ClusterPolicy",
  metadata: { name },
  spec: {
    validationFailureAction: "Enforce",
    rules: [{ name: "check", match: { any: [{ resources: { kinds: ["Pod"] } }] }, validate }],
  },
});
