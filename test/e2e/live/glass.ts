/** Break-glass: a ConfigMap has the leader withdraw its webhooks until it ends, also when the leader is killed meanwhile; docs/when-nothing-works.md is played. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../cluster.js";
import { configMap, validatingPolicy } from "./policies.js";
import { conditionsOf, type Json, type Replica, ROOT, type Stage } from "./stage.js";

const OURS = ["-l", "app.kubernetes.io/managed-by=policy-server"];
const OWN = ["-n", "policy-server"];
const NAME = "policy-server-break-glass";
/** How long it may take until webhooks have gone, or are back; and as long as four of the slowest questions of kubectl, where the machine has other work. */
const WITHIN_MS = 1_000;
let slack = 0;

export async function breakGlass(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "glass"]);
  await stage.replica("glass-a");
  await stage.replica("glass-b");
  await stage.apply(validatingPolicy("glass", "glass", "bad"));
  await stage.claim("a policy of two replicas is in force", () => stage.active("vpol", "glass"));
  assert.ok((await standing(stage)) > 0);

  await refusedOnes(stage);
  await untilItsTime(stage);
  await untilDeleted(stage);
  await withoutReplicas(stage);
}

/** Those that are refused change nothing, and say why. */
async function refusedOnes(stage: Stage): Promise<void> {
  const now = Date.now();
  const at = (ms: number) => new Date(now + ms).toISOString().replace(/\.\d+/, "");
  const wrong: readonly (readonly [data: Record<string, string>, said: RegExp])[] = [
    [{ by: "ann" }, /when it ends: its key \\?"expires/],
    [{ expires: "2h" }, /who wrote it: its key \\?"by/],
    [{ expires: "2h", by: " \n " }, /who wrote it/],
    [{ expires: "tomorrow", by: "ann" }, /has \\?"tomorrow/],
    [{ expires: "25h", by: "ann" }, /more than 24 hours/],
    [{ expires: at(30 * 3_600_000), by: "ann" }, /more than 24 hours/],
    [{ expires: at(-60_000), by: "ann" }, /was over when it was written/],
    [{ expires: "-1h", by: "ann" }, /was over/],
    [{ expires: "0", by: "ann" }, /was over/],
    [{ expires: "2026-02-30T00:00:00Z", by: "ann" }, /has \\?"2026-02-30/],
    [{}, /who wrote it/],
  ];
  for (const [data, said] of wrong) {
    const from = new Map([...stage.replicas.values()].map((replica) => [replica, replica.log().length]));
    await create(stage, data);
    await stage.claim(`refused, in logs, event and metric: ${JSON.stringify(data)}`, async () => {
      for (const [replica, length] of from)
        await stage.until("a word of each replica", () => said.test(replica.log().slice(length)));
      await stand(stage);
      await stage.until("the event", async () =>
        (await events(stage)).some(({ reason, note }) => reason === "BreakGlassRefused" && said.test(note)),
      );
      await stage.until("the metric", async () => /break_glass\{state="refused"/.test(await metrics(stage)));
    });
    await stage.kubectl(["delete", "configmap", NAME, ...OWN]);
  }
}

async function untilItsTime(stage: Stage): Promise<void> {
  const [first, ...others] = [...stage.replicas.values()] as [Replica, ...Replica[]];
  const wrote = (replica: Replica): boolean => /webhook configurations written/.test(replica.log());
  const leader = others.find(wrote) ?? first;
  await stage.claim("a replica leads", async () => assert.ok(wrote(leader)));
  const stood = await standing(stage);
  await create(stage, { expires: "35s", by: "ann", reason: "incident 42" });
  const written = Date.parse(
    String((await stage.get("configmap", NAME, "policy-server"))?.metadata?.creationTimestamp),
  );
  await withdrawn(stage, stood);
  await stage.kubectl(["create", "-n", "glass", "-f", "-"], JSON.stringify(configMap("passes", "bad")));
  for (const replica of stage.replicas.values())
    await stage.claim(`the log of ${replica.name} says who and why`, () =>
      stage.until("its word", () => /in force.*ann.*incident 42/.test(replica.log())),
    );
  await stage.claim("an event says who and why", () =>
    stage.until("the event", async () =>
      (await events(stage)).some(({ reason, note }) => reason === "BreakGlass" && note.includes("ann: incident 42")),
    ),
  );
  await stage.claim("the metric says who and why", async () =>
    assert.match(await metrics(stage), /break_glass\{state="in_force",by="ann",why="incident 42"\} 1/),
  );
  await stage.claim("the status of a policy says that it is in force", () =>
    stage.until("the status", async () => {
      const active = conditionsOf(await stage.get("vpol", "glass")).find(({ type }) => type === "Active");
      return (active?.status === "False" && active.reason === "BreakGlass") || `${JSON.stringify(active)}`;
    }),
  );
  // A policy that is new, and another one that leads, change nothing.
  await stage.apply(validatingPolicy("glass-new", "glass", "worse"));
  await sleep(3_000);
  await leader.kill();
  for (const end = written + 34_000; Date.now() < end; await sleep(200)) assert.equal(await standing(stage), 0);
  await stage.claim("although the leader was killed, the webhooks are back after its end by", async () => {
    await stage.until("the webhooks back", async () => (await standing(stage)) > 0);
    const late = Date.now() - written - 35_000;
    assert.ok(late < WITHIN_MS + slack, `${late} ms`);
    return `${late} ms`;
  });
  await stage.claim("the policy is in force again", () => stage.active("vpol", "glass"));
  assert.doesNotMatch(await metrics(stage), /break_glass\{/);
  await stage.kubectl(["delete", "configmap", NAME, ...OWN]);
  await stage.kubectl(["delete", "vpol", "glass-new"]);
}

/** What the page says, while a replica leads. */
async function untilDeleted(stage: Stage): Promise<void> {
  await stage.claim("the page's command shows the leader", async () => {
    const [holder = "", renewed = ""] = (await play(stage, "leader")).trim().split(" ");
    assert.ok(holder.startsWith("glass-") && Date.now() - Date.parse(renewed) < 15_000, `${holder} ${renewed}`);
  });
  const stood = await standing(stage);
  await play(stage, "glass");
  await withdrawn(stage, stood);
  await stage.claim("the page's command shows the event", () =>
    stage.until("the event", async () => /ann@example.org: incident 42/.test(await play(stage, "look"))),
  );
  await play(stage, "end");
  await stage.claim("the webhooks are back after it was deleted by", async () => {
    const took = await stage.until("the webhooks back", async () => (await standing(stage)) > 0);
    assert.ok(took < WITHIN_MS + slack, `${took} ms`);
    return `${took} ms`;
  });
}

/** Claims that the webhooks that stood are gone within a second. */
const withdrawn = (stage: Stage, stood: number): Promise<void> =>
  stage.claim("the webhooks are withdrawn after", async () => {
    assert.ok(stood > 0, "webhooks stood");
    const took = await stage.until("the webhooks gone", async () => (await standing(stage)) === 0);
    assert.ok(took < WITHIN_MS + slack, `${took} ms`);
    return `${took} ms`;
  });

/** What it says for when no replica is alive. */
async function withoutReplicas(stage: Stage): Promise<void> {
  for (const replica of [...stage.replicas.values()]) await replica.kill();
  const create = ["create", "--dry-run=server", "-n", "glass", "-f", "-"];
  const harmless = JSON.stringify(configMap("c", "good"));
  const fails = (when: string): Promise<void> =>
    stage.claim(`${when} nothing passes`, () =>
      stage.refused(create, harmless, /failed calling webhook "[^"]*policy-server\.admission"/),
    );
  await fails("without replicas");
  await stage.claim("the page's command shows the webhooks", async () =>
    assert.match(await play(stage, "others"), /policy-server-1 /),
  );
  // The last resort: the API server without its webhook plugins.
  await (await stage.cluster.stopApiServer())(command("plugins").trim());
  await stage.kubectl(create, harmless);
  await (await stage.cluster.stopApiServer())();
  await fails("with the plugins on again");
  await play(stage, "stop");
  await play(stage, "delete");
  await stage.kubectl(create, harmless);
  await play(stage, "back");
  console.log("without replicas the commands of the page let requests pass");
}

/** A command of the page. */
function command(name: string): string {
  const page = readFileSync(join(ROOT, "docs/when-nothing-works.md"), "utf8");
  const [, found] = new RegExp(`<!-- played: ${name} -->\n\`\`\`(?:sh)?\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  assert.ok(found !== undefined, `the page has the command ${name}`);
  return found;
}

/** Runs one, which must succeed. @returns what it prints */
async function play(stage: Stage, name: string): Promise<string> {
  const { code, text } = await run("bash", ["-c", `${stage.cluster.kubectlFunction()}\nset -e\n${command(name)}`]);
  assert.equal(code, 0, text);
  return text;
}

const create = (stage: Stage, data: Record<string, string>): Promise<string> =>
  stage.kubectl([
    ...["create", "configmap", NAME, ...OWN],
    ...Object.entries(data).map(([key, value]) => `--from-literal=${key}=${value}`),
  ]);

const stand = async (stage: Stage): Promise<void> => assert.ok((await standing(stage)) > 0, "webhooks stand");

/** How many webhooks of ours stand. */
async function standing(stage: Stage): Promise<number> {
  const kinds = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
  const begin = Date.now();
  const names = await stage.kubectl(["get", kinds, ...OURS, "-o", "name"]);
  slack = Math.max(slack, 4 * (Date.now() - begin));
  return names.split("\n").filter((line) => line !== "").length;
}

async function events(stage: Stage): Promise<readonly { readonly reason: string; readonly note: string }[]> {
  const text = await stage.kubectl(["get", "events.events.k8s.io", ...OWN, "-o", "json"]);
  return (JSON.parse(text) as { items: Json[] }).items.map((event) => ({
    reason: String(event.reason),
    note: String(event.note),
  }));
}

const metrics = async (stage: Stage): Promise<string> => {
  const [replica] = [...stage.replicas.values()];
  const response = await fetch(`${replica?.probes}/metrics`).catch(() => undefined);
  return (await response?.text()) ?? "";
};
