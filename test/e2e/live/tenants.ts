/** What the owner of one namespace writes takes nothing from others: neither webhooks, nor ids, nor the start of a replica, nor policies of the whole cluster. */
import assert from "node:assert/strict";
import { HOSTILE } from "../../cluster/webhooks/hostile.js";
import { Api } from "./api.js";
import { configMap, kubewardenAdmissionPolicy, policyException, validatingPolicy } from "./policies.js";
import { conditionsOf, type Stage } from "./stage.js";

/** Of one kind in one namespace: what a kind may have in all, and more than a namespace may. */
const LARGE_OBJECTS = 47;
const LARGE_BYTES = 1_450_000;
/** How soon a namespace that was left out is back, and statuses of that many large objects are written. */
const WITHIN_MS = 180_000;

const create = (namespace: string) => ["create", "--dry-run=server", "-n", namespace, "-f", "-"];
const one = JSON.stringify(configMap("c", "one"));

export async function tenantsWebhooks(stage: Stage): Promise<void> {
  const server = await stage.replica("tenants");
  for (const namespace of ["team", "team-a", "evil"]) await stage.kubectl(["create", "namespace", namespace]);
  const denied = async (namespace: string): Promise<boolean> => {
    const { code, text } = await stage.cluster.kubectl(create(namespace), one);
    return code !== 0 && text.includes("the key one is not allowed");
  };
  // The ids of both would be namespaced-team-a-guard.
  await stage.claim("policies whose names put together are the same are both asked", async () => {
    await stage.apply(kubewardenAdmissionPolicy("a-guard", "team", "one"));
    await stage.active("ap", "a-guard", "team");
    await stage.apply(kubewardenAdmissionPolicy("guard", "team-a", "one"));
    await stage.active("ap", "guard", "team-a");
    assert.ok((await denied("team")) && (await denied("team-a")));
  });

  const hostile = await hostilePolicies(stage);
  await stage.apply(validatingPolicy("afterwards", "team", "two"));
  await stage.claim(
    `beside ${hostile.length} policies that name others' webhooks a new one becomes active`,
    async () => {
      await stage.active("vpol", "afterwards");
    },
  );
  await stage.claim("their status says why they are refused, and all others stand", async () => {
    await stage.until("what is said against a tenant's webhooks", async () => {
      const said = await Promise.all(hostile.map((name) => saidOf(stage, name)));
      const silent = said.filter((text) => text === "").length;
      return silent === 0 || `${silent} of ${said.length} say nothing`;
    });
    assert.ok((await denied("team")) && (await denied("team-a")), "others are asked all the same");
    const { length } = server.log().match(/refuses a webhook/g) ?? [];
    return `(${length} refused)`;
  });

  await stage.kubectl(["delete", "ap", "--all", "-n", "evil"]);
  await stage.apply(validatingPolicy("at-last", "team", "three"));
  await stage.claim("without them a new one becomes active", async () => {
    await stage.active("vpol", "at-last");
    assert.ok((await denied("team")) && (await denied("team-a")));
    assert.doesNotMatch(server.log(), /webhook configurations cannot be kept/);
  });
  assert.equal(await server.stop(), 0);
}

/** Brings all hostile webhooks that the definition of AdmissionPolicies lets through. */
async function hostilePolicies(stage: Stage): Promise<readonly string[]> {
  const api = new Api(stage.cluster.kubeconfig);
  const names: string[] = [];
  for (const [i, { webhook }] of HOSTILE.entries()) {
    const { rules, objectSelector, matchConditions } = webhook;
    const policy = kubewardenAdmissionPolicy(`h${i}`, "evil", "one") as { spec: object };
    const spec = { ...policy.spec, rules, objectSelector, matchConditions };
    const path = "/apis/policies.kubewarden.io/v1/namespaces/evil/admissionpolicies";
    const { code } = await api.ask({ method: "POST", path, body: { ...policy, spec } });
    if (code === 201) names.push(`h${i}`);
  }
  api.close();
  return names;
}

/** What the status of a tenant's policy says: that it is asked, or why it is not. */
async function saidOf(stage: Stage, name: string): Promise<string> {
  const conditions = conditionsOf(await stage.get("ap", name, "evil"));
  const active = conditions.find(({ type }) => type === "Active");
  const isSaid = active?.status === "True" || /refuses its webhook|no rule that matches/.test(active?.message ?? "");
  return isSaid ? (active?.message ?? "") : "";
}

export async function oneNamespaceWithTooMuch(stage: Stage): Promise<void> {
  for (const namespace of ["heavy", "light"]) await stage.kubectl(["create", "namespace", namespace]);
  const api = new Api(stage.cluster.kubeconfig);
  const path = "/apis/policies.kubewarden.io/v1/namespaces/heavy/admissionpolicies";
  const policy = kubewardenAdmissionPolicy("p", "heavy", "one") as { spec: { settings: object } };
  await stage.apply(kubewardenAdmissionPolicy("small", "heavy", "one"));
  for (let i = 0; i < LARGE_OBJECTS; i++) {
    const metadata = { name: `p${i}` };
    const settings = { ...policy.spec.settings, text: "x".repeat(LARGE_BYTES) };
    const { code, message } = await api.ask({
      ...{ method: "POST", path },
      body: { ...policy, metadata, spec: { ...policy.spec, settings } },
    });
    assert.equal(code, 201, message);
  }
  await stage.apply(kubewardenAdmissionPolicy("guard", "light", "one"));
  const began = Date.now();
  const server = await stage.replica("too-much");
  console.log(
    `ready ${Date.now() - began} ms after its start, beside ${LARGE_OBJECTS} objects of ${LARGE_BYTES} bytes`,
  );
  const two = JSON.stringify(configMap("c", "two"));
  await stage.claim("others' policies are in force", async () => {
    await stage.until("the policies of others", () => stage.denies(create("light"), one));
    assert.match(await stage.refused(create("light"), one), /the key one is not allowed/);
    await stage.kubectl(create("light"), two);
  });
  await stage.claim("those of the namespace with too much deny, and their status says why", async () => {
    await stage.until("a denial where there is too much", () => stage.denies(create("heavy"), two));
    const saysWhy = async () => {
      const conditions = conditionsOf(await stage.get("ap", "small", "heavy"));
      return conditions.some(({ message }) => /the namespace heavy has more objects/.test(message));
    };
    await stage.until("the reason in the status", saysWhy, WITHIN_MS);
  });
  for (let i = 0; i < LARGE_OBJECTS; i++) await api.ask({ method: "DELETE", path: `${path}/p${i}` });
  api.close();
  await stage.claim("with less of it the namespace is served as all others after", async () => {
    const isBack = async () => (await stage.cluster.kubectl(create("heavy"), two)).code === 0;
    const back = await stage.until("it to be back", isBack, WITHIN_MS);
    assert.match(await stage.refused(create("heavy"), one), /the key one is not allowed/);
    return `${back} ms`;
  });
  assert.equal(await server.stop(), 0);
}

export async function exceptionsOfTenants(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "exceptional"]);
  await stage.apply(
    validatingPolicy("without-exception", "exceptional", "one"),
    policyException("own-goal", "exceptional", "without-exception", "exempt"),
  );
  const exempt = JSON.stringify(configMap("exempt", "one"));
  for (const [flag, isExempt] of [
    ["", false],
    ["--exception-namespaces=other", false],
    ["--exception-namespaces=other,exceptional", true],
    ["--exception-namespaces=*", true],
  ] as const) {
    const name = `exceptions-${flag.replace(/[^a-z]/g, "").slice(-8) || "none"}`;
    const server = await stage.replica(name, ...(flag === "" ? [] : [flag]));
    const effect = isExempt ? "exempts" : "does not exempt, and the log says that it is left out";
    await stage.claim(`with ${flag || "nothing"} the exception ${effect}`, async () => {
      await stage.active("vpol", "without-exception");
      await stage.refused(create("exceptional"), JSON.stringify(configMap("other", "one")));
      const { code } = await stage.cluster.kubectl(create("exceptional"), exempt);
      assert.equal(code === 0, isExempt);
      assert.equal(/PolicyExceptions count for nothing.*left_out.*1/.test(server.log()), !isExempt);
    });
    assert.equal(await server.stop(), 0);
  }
}
