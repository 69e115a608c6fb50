import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";
import { StructuralCheck } from "../support/structural-check.js";
import { type Deployed, everySet, type Json, type KubernetesObject, ofKind, only } from "./objects.js";

/** Kinds of others, of which we have no definitions. */
const FOREIGN = [
  "cert-manager.io/v1/Certificate",
  "cert-manager.io/v1/Issuer",
  "monitoring.coreos.com/v1/PrometheusRule",
  "monitoring.coreos.com/v1/ServiceMonitor",
  "apiextensions.k8s.io/v1/CustomResourceDefinition",
];
/** Seconds between the end of the drain and the kubelet's kill. */
const REST_SECONDS = 5;

/** On ClusterRoles that add to what the background audit may read. */
const AUDIT_LABEL = "policy-server.admission/aggregate-to-audit";

const check = new StructuralCheck();

test("the check knows a wrong object from a right one", () => {
  const service = { apiVersion: "v1", kind: "Service", spec: { ports: [{ port: "http" }], selectors: {} } };
  assert.deepEqual(check.problems(service), [
    "Service.spec.ports[0].port: not an integer",
    "Service.spec.selectors: unknown field",
  ]);
});

for (const deployed of everySet()) {
  describe(deployed.name, () => {
    test("every object is as Kubernetes defines its kind, without unknown fields", () => {
      for (const object of deployed.objects) {
        const problems = check.problems(object);
        if (problems === undefined) assert.ok(FOREIGN.includes(`${object.apiVersion}/${object.kind}`), object.kind);
        else assert.deepEqual(problems, [], `${object.kind} ${object.metadata.name}`);
      }
    });

    test("no two objects are the same one", () => {
      const names = deployed.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      assert.deepEqual(names, [...new Set(names)]);
    });

    test("whatever selects pods selects the server's", () => {
      const template = podOf(deployed);
      const labels = template.metadata as unknown as KubernetesObject["metadata"];
      const selectors = [
        only(deployed, "Service").spec.selector,
        only(deployed, "Deployment").spec.selector?.matchLabels,
        ...ofKind(deployed, "PodDisruptionBudget").map(({ spec }) => spec.selector?.matchLabels),
        ...ofKind(deployed, "NetworkPolicy").map(({ spec }) => spec.podSelector?.matchLabels),
        ...list(template.spec?.topologySpreadConstraints).map((one) => one.labelSelector?.matchLabels),
      ];
      for (const selector of selectors) {
        assert.ok(selector !== undefined && Object.keys(selector).length > 0);
        for (const [label, value] of Object.entries(selector)) assert.equal(labels.labels?.[label], value);
      }
      for (const { spec } of ofKind(deployed, "ServiceMonitor")) {
        const own = only(deployed, "Service").metadata.labels;
        for (const [label, value] of Object.entries(spec.selector?.matchLabels ?? {}))
          assert.equal(own?.[label], value);
      }
    });

    test("ports meet: the server's, the container's, the probes', the service's and the webhooks'", () => {
      const container = containerOf(deployed);
      const ports = new Map(list(container.ports).map(({ name, containerPort }) => [name, String(containerPort)]));
      const variables = environmentOf(container);
      assert.equal(ports.get("https" as unknown as Json), variables.get("KUBEWARDEN_PORT"));
      assert.equal(ports.get("probes" as unknown as Json), variables.get("KUBEWARDEN_READINESS_PROBE_PORT"));
      const service = list(only(deployed, "Service").spec.ports);
      for (const { targetPort } of service) assert.ok(targetPort !== undefined && ports.has(targetPort));
      for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
        assert.equal(container[probe]?.httpGet?.port, "probes", probe);
      }
      for (const { spec } of ofKind(deployed, "NetworkPolicy")) {
        const allowed = list(spec.ingress).flatMap((rule) => list(rule.ports).map(({ port }) => port));
        assert.ok(allowed.every((port) => port !== undefined && ports.has(port)));
      }
      for (const { spec } of ofKind(deployed, "ServiceMonitor")) {
        const names = service.map(({ name }) => name);
        assert.ok(list(spec.endpoints).every(({ port }) => names.includes(port as Json)));
      }
    });

    test("flags and variables exist, with values that fit", () => {
      const container = containerOf(deployed);
      const flags = new Map<string, (typeof SERVE_OPTIONS)[number]>(SERVE_OPTIONS.map((one) => [one.flag, one]));
      const variables = new Set<string>(SERVE_OPTIONS.map(({ env }) => env));
      for (const argument of strings(container.args)) {
        const [, flag = "", value] = /^--([\w-]+)(?:=(.*))?$/.exec(argument) ?? [];
        const kind = flags.get(flag)?.kind;
        assert.ok(kind !== undefined, `${argument}: no such flag`);
        assert.equal(value === undefined, kind === "flag", argument);
        if (kind === "count" || kind === "integer") assert.match(value ?? "", /^\d+$/, argument);
        if (typeof kind === "object") assert.ok(kind.choices.includes(value ?? ""), argument);
      }
      for (const name of environmentOf(container).keys()) assert.ok(variables.has(name), `${name}: no such variable`);
    });

    test("a pod has the time to drain before it is killed", () => {
      const argument = (flag: string): number => {
        const text = strings(containerOf(deployed).args).find((one) => one.startsWith(`--${flag}=`));
        return Number(text?.slice(flag.length + 3));
      };
      const needed = argument("drain-delay") + argument("drain-grace") + REST_SECONDS;
      assert.ok(Number(podOf(deployed).spec?.terminationGracePeriodSeconds) >= needed);
    });

    test("what the server reads is mounted, and what it writes is writable though the root is not", () => {
      const container = containerOf(deployed);
      const volumes = new Set(list(podOf(deployed).spec?.volumes).map(({ name }) => name));
      const mounts = list(container.volumeMounts);
      for (const { name } of mounts) assert.ok(volumes.has(name));
      const mountOf = (path: string | undefined) => mounts.find(({ mountPath }) => path?.startsWith(String(mountPath)));
      const variables = environmentOf(container);
      for (const name of ["POLICIES", "CERT_FILE", "KEY_FILE"]) {
        const path = variables.get(`KUBEWARDEN_${name}`);
        if (path === undefined) assert.ok(fromCluster(deployed), name);
        else assert.equal(mountOf(path)?.readOnly, true, name);
      }
      for (const name of ["POLICIES_DOWNLOAD_DIR", "SIGSTORE_CACHE_DIR"]) {
        const mount = mountOf(variables.get(`KUBEWARDEN_${name}`));
        assert.ok(mount !== undefined && mount.readOnly === undefined, name);
      }
    });

    test("the pod may do nothing it need not", () => {
      const { spec } = podOf(deployed);
      const container = containerOf(deployed);
      assert.equal(spec?.securityContext?.runAsNonRoot, true);
      assert.equal(spec?.securityContext?.seccompProfile?.type, "RuntimeDefault");
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    });

    test("there are two pods or more, and one of them always stays", () => {
      const { replicas } = only(deployed, "Deployment").spec;
      const [autoscaler] = ofKind(deployed, "HorizontalPodAutoscaler");
      assert.ok(Number(replicas ?? autoscaler?.spec.minReplicas) >= 2);
      for (const { spec } of ofKind(deployed, "PodDisruptionBudget")) assert.equal(spec.minAvailable, 1);
      if (autoscaler !== undefined) {
        assert.equal(autoscaler.spec.scaleTargetRef?.name, only(deployed, "Deployment").metadata.name);
        assert.ok(containerOf(deployed).resources?.requests?.cpu, "utilisation needs a request");
      }
    });

    test("every role is bound, and bound to the server's account; nothing else is", () => {
      const account = only(deployed, "ServiceAccount").metadata;
      assert.equal(podOf(deployed).spec?.serviceAccountName, account.name);
      const bound = ["ClusterRoleBinding", "RoleBinding"].flatMap((kind) => ofKind(deployed, kind));
      for (const { subjects, metadata } of bound) {
        assert.deepEqual(
          subjects?.map(({ name, namespace }) => [name, namespace]),
          [[account.name, account.namespace]],
          metadata.name,
        );
      }
      const roles = ["ClusterRole", "Role"].flatMap((kind) => ofKind(deployed, kind));
      assert.deepEqual(
        bound.map(({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`).sort(),
        roles
          .filter(({ metadata }) => metadata.labels?.[AUDIT_LABEL] === undefined)
          .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
          .sort(),
      );
    });

    test("the server may do nothing to all objects, and writes nothing whose kind is not named", () => {
      for (const { rules = [], metadata } of ["ClusterRole", "Role"].flatMap((kind) => ofKind(deployed, kind))) {
        for (const { apiGroups = [], resources = [], verbs } of rules) {
          assert.ok(![...apiGroups, ...resources, ...verbs].includes("*"), metadata.name);
        }
      }
    });
  });
}

/** Whether policies and certificates come from the cluster. */
function fromCluster(deployed: Deployed): boolean {
  return strings(containerOf(deployed).args).includes("--from-cluster");
}

function podOf(deployed: Deployed): Json {
  return only(deployed, "Deployment").spec.template as Json;
}

function containerOf(deployed: Deployed): Json {
  const [container] = list(podOf(deployed).spec?.containers);
  assert.ok(container !== undefined);
  return container;
}

function environmentOf(container: Json): Map<string, string> {
  return new Map(list(container.env).map(({ name, value }) => [String(name), String(value)]));
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
