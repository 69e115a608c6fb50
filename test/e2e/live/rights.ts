/** Rights are taken away one by one: the server says which is missing, and goes on with what it may do. */
import assert from "node:assert/strict";
import { configMap, validatingPolicy } from "./policies.js";
import type { Json, Stage } from "./stage.js";

/** A right of a role of deploy/, and what the log must say without it. */
interface Right {
  readonly role: string;
  readonly kind?: "role";
  /** Which of the role's rules, by a resource that it names. */
  readonly resource: string;
  readonly said: RegExp;
  /** Whether policies still become active: their status says so only where it may be written. */
  readonly silent?: boolean;
  /** Whether denials still reach the API server for a policy that comes afterwards. */
  readonly unasked?: boolean;
  /** Whether the server can't be ready, since it can't know its policies. */
  readonly unready?: boolean;
}

const RIGHTS: readonly Right[] = [
  { role: "policy-server-policies", resource: "customresourcedefinitions", said: /customresourcedefinitions/ },
  { role: "policy-server-policies", resource: "globalcontextentries", said: /globalcontextentries/, unready: true },
  { role: "policy-server-policies", resource: "validatingpolicies", said: /validatingpolicies/, unready: true },
  { role: "policy-server-policies", resource: "validatingpolicies/status", said: /status/, silent: true },
  {
    role: "policy-server-webhooks",
    resource: "validatingwebhookconfigurations",
    said: /webhookconfigurations/,
    unasked: true,
  },
  { role: "policy-server-webhooks", resource: "clusterroles", said: /clusterroles|policy-server/ },
  { role: "policy-server", kind: "role", resource: "leases", said: /leases/, unasked: true },
  { role: "policy-server", kind: "role", resource: "secrets", said: /secrets/, unready: true },
  { role: "policy-server-reports", resource: "reports", said: /reports/ },
  { role: "policy-server-audit-workloads", resource: "configmaps", said: /configmaps/ },
  { role: "policy-server", resource: "namespaces", said: /namespaces/ },
];

export async function rightsTakenAway(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "rights"]);
  for (const [index, right] of RIGHTS.entries()) {
    const { role, kind = "clusterrole", resource } = right;
    const place = kind === "role" ? ["-n", "policy-server"] : [];
    const { rules } = (await stage.get(kind, role, kind === "role" ? "policy-server" : "")) as unknown as {
      rules: readonly Json[];
    };
    const left = rules.filter(({ resources }) => !(resources as unknown as string[]).includes(resource));
    assert.ok(left.length < rules.length, `${role} has a rule about ${resource}`);
    const write = (some: readonly Json[]) =>
      stage.kubectl(["patch", kind, role, ...place, "--type=merge", "-p", JSON.stringify({ rules: some })]);
    await write(left);
    try {
      await without(stage, right, `without-${index}`);
    } finally {
      await write(rules);
    }
  }
}

async function without(stage: Stage, right: Right, name: string): Promise<void> {
  const { role, resource, said, silent = false, unasked = false, unready = false } = right;
  const lack = `without ${resource} of ${role}`;
  if (unready) {
    await stage.claim(`${lack} it is not ready, and says why`, () => stage.unready(name, said));
    return;
  }
  const server = await stage.replica(name, "--audit-interval=1");
  await stage.apply(validatingPolicy(name, "rights", name));
  const create = ["create", "--dry-run=server", "-n", "rights", "-f", "-"];
  if (!silent && !unasked) await stage.claim(`${lack} a policy becomes active`, () => stage.active("vpol", name));
  if (!unasked) {
    const object = JSON.stringify(configMap("c", name));
    await stage.claim(`${lack} it denies`, () =>
      stage.until("the denial", () => stage.denies(create, object)).then(() => {}),
    );
  }
  await stage.claim(`${lack} it is ready, and its log says what it may not do`, async () => {
    await stage.until(`a word about ${resource}`, () =>
      server
        .log()
        .split("\n")
        .some((line) => isComplaint(line, said)),
    );
    const ready = await fetch(`${server.probes}/readiness`);
    assert.ok(ready.ok, `ready ${lack}`);
  });
  await stage.kubectl(["delete", "vpol", name]);
  assert.equal(await server.stop(), 0);
}

/** A warning or an error that says what is forbidden. */
const isComplaint = (line: string, said: RegExp): boolean =>
  /WARN|ERROR|warn|error/.test(line) && /forbidden|may not|cannot|not allowed|403/i.test(line) && said.test(line);
