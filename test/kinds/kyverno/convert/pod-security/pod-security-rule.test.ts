/** Answers are those of Kyverno 1.19.1's command. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../../src/kubernetes/object.js";
import { documentsOf, judged, oldPolicy, reasonsOf } from "../rules.js";

const rule = (podSecurity: JsonObject, kinds?: readonly string[]) => oldPolicy({ validate: { podSecurity } }, kinds);
const baseline = (...exclude: readonly JsonObject[]) => rule({ level: "baseline", version: "latest", exclude });
const restricted = (...exclude: readonly JsonObject[]) => rule({ level: "restricted", version: "latest", exclude });
const STRICT = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const container = (more: JsonObject = {}, securityContext: JsonObject = {}) => ({
  name: "main",
  image: "registry.example.com/app:1.2",
  securityContext: { ...STRICT, ...securityContext },
  ...more,
});
const pod = (spec: JsonObject, metadata: JsonObject = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "shop", ...metadata },
  spec: { containers: [container()], ...spec },
});
const containers = (...list: readonly JsonObject[]) => pod({ containers: list });

/** Whether a Pod passes. */
const passes = async (policy: JsonObject, object: JsonObject) => (await judged(policy, object)) === "pass";

describe("each check has its validation", () => {
  const failing: readonly (readonly [string, JsonObject, "baseline" | "restricted"])[] = [
    ["host namespaces", pod({ hostPID: true }), "baseline"],
    ["hostPath volumes", pod({ volumes: [{ name: "v", hostPath: { path: "/etc" } }] }), "baseline"],
    ["hostPort", containers(container({ ports: [{ containerPort: 80, hostPort: 80 }] })), "baseline"],
    ["privileged", pod({ initContainers: [container({}, { privileged: true })] }), "baseline"],
    [
      "non-default capabilities",
      containers(container({}, { capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } })),
      "baseline",
    ],
    ["procMount", pod({ ephemeralContainers: [container({}, { procMount: "Unmasked" })] }), "baseline"],
    ["seLinuxOptions", pod({ securityContext: { seLinuxOptions: { user: "u" } } }), "baseline"],
    ["seccompProfile", pod({ securityContext: { seccompProfile: { type: "Unconfined" } } }), "baseline"],
    ["forbidden sysctls", pod({ securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }), "baseline"],
    ["hostProcess", pod({ securityContext: { windowsOptions: { hostProcess: true } } }), "baseline"],
    [
      "forbidden AppArmor profile",
      pod({}, { annotations: { "container.apparmor.security.beta.kubernetes.io/main": "unconfined" } }),
      "baseline",
    ],
    [
      "probe or lifecycle host",
      containers(container({ lifecycle: { preStop: { tcpSocket: { port: 1, host: "h" } } } })),
      "baseline",
    ],
    ["allowPrivilegeEscalation != false", containers(container({}, { allowPrivilegeEscalation: true })), "restricted"],
    ["unrestricted capabilities", containers(container({}, { capabilities: {} })), "restricted"],
    [
      "runAsNonRoot != true",
      containers({ name: "a", image: "b", securityContext: { ...STRICT, runAsNonRoot: false } }),
      "restricted",
    ],
    ["runAsUser=0", pod({ securityContext: { runAsUser: 0 } }), "restricted"],
    ["restricted volume types", pod({ volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] }), "restricted"],
  ];
  for (const [reason, object, level] of failing)
    test(reason, async () => {
      const other = level === "baseline" ? restricted() : baseline();
      const told = (of: string) =>
        `fail: Validation rule 'check' failed. It violates PodSecurity "${of}:latest": (Forbidden reason: ${reason})`;
      assert.equal(await judged(level === "baseline" ? baseline() : restricted(), object), told(level));
      assert.equal(await judged(other, object), level === "baseline" ? told("restricted") : "pass");
    });

  test("a good Pod passes all of them", async () => {
    assert.equal(documentsOf(restricted())[0]?.spec.validations?.length, 18);
    assert.equal(await judged(restricted(), pod({})), "pass");
    assert.equal(await judged(baseline(), containers({ name: "a", image: "b" })), "pass");
  });

  test("containers have runAsNonRoot and seccompProfile from their Pod, but not against it", async () => {
    const { runAsNonRoot: _, seccompProfile: __, ...rest } = STRICT;
    const silent = { name: "a", image: "b", securityContext: rest };
    const good = { runAsNonRoot: true, seccompProfile: { type: "Localhost" } };
    assert.equal(await passes(restricted(), containers(silent)), false);
    assert.equal(await passes(restricted(), pod({ containers: [silent], securityContext: good })), true);
    assert.equal(await passes(restricted(), pod({ securityContext: { runAsNonRoot: false } })), false);
  });

  test("the template of a controller is judged, also where the rule names the controller itself", async () => {
    const template = { metadata: {}, spec: { containers: [container()], hostNetwork: true } };
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d", namespace: "shop" },
      spec: { template },
    };
    const job = {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "c", namespace: "shop" },
      spec: { jobTemplate: { spec: { template } } },
    };
    const named = rule({ level: "baseline" }, ["Pod", "Deployment"]);
    for (const [policy, object] of [
      [baseline(), deployment],
      [baseline(), job],
      [named, deployment],
      [named, pod({ hostIPC: true })],
    ] as const)
      assert.match(await judged(policy, object), /host namespaces/);
  });
});

describe("versions", () => {
  const version = (of: string) => rule({ level: "restricted", version: of });
  test("sysctls and types of SELinux are allowed from a version on", async () => {
    const sysctl = (name: string) => pod({ securityContext: { sysctls: [{ name, value: "1" }] } });
    for (const [name, since] of [
      ["net.ipv4.ip_local_reserved_ports", 27],
      ["net.ipv4.tcp_fin_timeout", 29],
      ["net.ipv4.tcp_rmem", 32],
    ] as const) {
      assert.equal(await passes(version(`v1.${since - 1}`), sysctl(name)), false, name);
      assert.equal(await passes(version(`v1.${since}`), sysctl(name)), true, name);
    }
    const engine = pod({ securityContext: { seLinuxOptions: { type: "container_engine_t" } } });
    assert.deepEqual([await passes(version("v1.30"), engine), await passes(version("v1.31"), engine)], [false, true]);
  });

  test("Pods of Windows are spared from 1.25 on", async () => {
    const windows = pod({
      os: { name: "windows" },
      containers: [{ name: "a", image: "b", securityContext: { runAsNonRoot: true } }],
    });
    assert.deepEqual([await passes(version("v1.24"), windows), await passes(version("v1.25"), windows)], [false, true]);
  });

  test("without a version it is the latest one", async () => {
    const object = pod({ hostNetwork: true });
    assert.match(await judged(rule({ level: "baseline" }), object), /PodSecurity "baseline:": /);
  });
});

describe("exclude", () => {
  const added = (image: string, ...add: readonly string[]) =>
    container({ image }, { capabilities: { drop: ["ALL"], add } });
  const field = "spec.containers[*].securityContext.capabilities.add";
  const cases: readonly (readonly [string, JsonObject, JsonObject, boolean])[] = [
    ["a control of the Pod", baseline({ controlName: "Host Namespaces" }), pod({ hostNetwork: true }), true],
    [
      "one field of it",
      baseline({ controlName: "Host Namespaces", restrictedField: "spec.hostPID", values: ["true"] }),
      pod({ hostPID: true }),
      true,
    ],
    [
      "another field",
      baseline({ controlName: "Host Namespaces", restrictedField: "spec.hostPID", values: ["true"] }),
      pod({ hostIPC: true }),
      false,
    ],
    [
      "paths by wildcard",
      baseline({ controlName: "HostPath Volumes", restrictedField: "spec.volumes[*].hostPath", values: ["/var/*"] }),
      pod({ volumes: [{ name: "v", hostPath: { path: "/var/log" } }] }),
      true,
    ],
    [
      "another path",
      baseline({ controlName: "HostPath Volumes", restrictedField: "spec.volumes[*].hostPath", values: ["/var/*"] }),
      pod({ volumes: [{ name: "v", hostPath: { path: "/etc" } }] }),
      false,
    ],
    [
      "images by wildcard",
      baseline({ controlName: "Capabilities", images: ["priv.example.com/*"] }),
      containers(added("priv.example.com/a", "SYS_ADMIN")),
      true,
    ],
    [
      "another image",
      baseline({ controlName: "Capabilities", images: ["priv.example.com/*"] }),
      containers(added("a", "SYS_ADMIN")),
      false,
    ],
    [
      "one image of two",
      baseline({ controlName: "Capabilities", images: ["a"] }),
      containers(added("a", "SYS_ADMIN"), added("b", "SYS_ADMIN")),
      false,
    ],
    [
      "values",
      baseline({ controlName: "Capabilities", images: ["*"], restrictedField: field, values: ["SYS_*"] }),
      containers(added("a", "SYS_ADMIN")),
      true,
    ],
    [
      "one value of two",
      baseline({ controlName: "Capabilities", images: ["*"], restrictedField: field, values: ["SYS_*"] }),
      containers(added("a", "SYS_ADMIN", "NET_ADMIN")),
      false,
    ],
    [
      "a field of other containers",
      baseline({ controlName: "Capabilities", images: ["*"], restrictedField: field, values: ["*"] }),
      pod({ initContainers: [added("a", "SYS_ADMIN")] }),
      false,
    ],
    [
      "ports as texts",
      baseline({
        controlName: "Host Ports",
        images: ["*"],
        restrictedField: "spec.containers[*].ports[*].hostPort",
        values: ["8*"],
      }),
      containers(container({ ports: [{ hostPort: 80 }] })),
      true,
    ],
    [
      "types of volumes",
      restricted({ controlName: "Volume Types", restrictedField: "spec.volumes[*].nfs", values: ["x"] }),
      pod({ volumes: [{ name: "v", nfs: {} }] }),
      true,
    ],
    [
      "nothing told, whatever the values",
      restricted({
        controlName: "Privilege Escalation",
        images: ["*"],
        restrictedField: "spec.containers[*].securityContext.allowPrivilegeEscalation",
        values: ["x"],
      }),
      containers({ name: "a", image: "b" }),
      false,
    ],
    [
      "the pod's seccomp only",
      restricted({ controlName: "Seccomp" }),
      pod({ securityContext: { seccompProfile: { type: "Unconfined" } } }),
      true,
    ],
    [
      "a container's seccomp",
      restricted({ controlName: "Seccomp", images: ["*"] }),
      containers(container({}, { seccompProfile: { type: "Unconfined" } })),
      true,
    ],
  ];
  for (const [name, policy, object, isFine] of cases)
    test(name, async () => {
      assert.equal(await passes(policy, object), isFine);
    });

  test("an exclusion of the Pod lets the first container through that only lacks runAsNonRoot, as Kyverno does", async () => {
    const lacking = (name: string) => ({
      ...container({ name }),
      securityContext: { ...STRICT, runAsNonRoot: undefined },
    });
    const policy = restricted({ controlName: "Running as Non-root" });
    assert.equal(await passes(policy, containers(lacking("a"))), true);
    assert.equal(await passes(policy, containers(lacking("a"), lacking("b"))), false);
    const first = restricted(
      { controlName: "Running as Non-root" },
      { controlName: "Running as Non-root", images: ["x"] },
    );
    assert.equal(await passes(first, containers(lacking("a"), { ...lacking("b"), image: "x" })), true);
    assert.equal(await passes(first, containers({ ...lacking("b"), image: "x" }, lacking("a"))), false);
    const last = restricted(
      { controlName: "Running as Non-root", images: ["x"] },
      { controlName: "Running as Non-root" },
    );
    assert.equal(await passes(last, containers({ ...lacking("b"), image: "x" }, lacking("a"))), true);
  });
});

test("what Kyverno would refuse, or means otherwise than it says, is not converted", () => {
  const reasons = (podSecurity: JsonObject) => reasonsOf(rule(podSecurity)).join();
  assert.match(reasons({ level: "privileged" }), /level: Kyverno runs every check then/);
  assert.match(reasons({}), /level: /);
  assert.match(reasons({ level: "baseline", version: "v1.18" }), /version: /);
  for (const [exclusion, message] of [
    [{ controlName: "Nope" }, /controlName: /],
    [{}, /controlName: /],
    [{ controlName: "Capabilities" }, /images: this control is one of containers/],
    [{ controlName: "Host Namespaces", images: ["*"] }, /images: this control is one of the Pod/],
    [{ controlName: "Volume Types" }, /controlName: this level has no such control/],
    [{ controlName: "SELinux", values: ["a"] }, /values: restrictedField and values belong together/],
    [{ controlName: "SELinux", images: "a" }, /images: /],
  ] as const)
    assert.match(reasons({ level: "baseline", exclude: [exclusion] }), message);
});
