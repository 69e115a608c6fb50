/** A policy whose new version is broken goes on as it was; one that never worked denies. Others are not held up by either. */
import assert from "node:assert/strict";
import { clusterAdmissionPolicy, configMap, validatingPolicy } from "./policies.js";
import { conditionsOf, type Stage } from "./stage.js";

/** Compiles for nobody: the API server has no schema for expressions of these kinds. */
const BROKEN = { validations: [{ expression: "object.data.", message: "m" }] };

export async function brokenVersions(stage: Stage): Promise<void> {
  const server = await stage.replica("broken");
  for (const namespace of ["last-good", "never-good", "beside"])
    await stage.kubectl(["create", "namespace", namespace]);
  const create = (namespace: string) => ["create", "--dry-run=server", "-n", namespace, "-f", "-"];
  const [one, two] = [JSON.stringify(configMap("c", "one")), JSON.stringify(configMap("c", "two"))];

  await stage.claim(
    "a broken new version leaves the last good one in force, and its status says where the mistake is",
    async () => {
      await stage.apply(validatingPolicy("last-good", "last-good", "one"));
      await stage.active("vpol", "last-good");
      await stage.apply(validatingPolicy("last-good", "last-good", "one", BROKEN));
      await stage.until("the mistake in the status", async () => mistakeIn(stage, "last-good"));
      assert.match(await stage.refused(create("last-good"), one), /the key one is not allowed/);
      await stage.kubectl(create("last-good"), two);
    },
  );

  await stage.apply(
    validatingPolicy("never-good", "never-good", "one", BROKEN),
    clusterAdmissionPolicy("no-module", "never-good", "one", { module: "file:///nowhere/policy.wasm" }),
    validatingPolicy("beside", "beside", "one"),
  );
  await stage.claim("a policy beside broken ones is in force", async () => {
    await stage.active("vpol", "beside");
    assert.match(await stage.refused(create("beside"), one), /the key one is not allowed/);
  });
  await stage.claim("one that never worked denies, and its status says where the mistake is", async () => {
    await stage.until("a denial", () => stage.denies(create("never-good"), two));
    await stage.until("its mistake", async () => mistakeIn(stage, "never-good"));
  });
  await stage.claim("a policy without its module is not active, and its status says so", async () => {
    await stage.until("its status", async () => {
      const conditions = conditionsOf(await stage.get("cap", "no-module"));
      return conditions.some(({ type, status }) => type === "Active" && status === "False");
    });
  });

  await stage.claim("once it is mended the new version is in force", async () => {
    await stage.apply(validatingPolicy("last-good", "last-good", "two"));
    await stage.active("vpol", "last-good");
    assert.match(await stage.refused(create("last-good"), two), /the key two is not allowed/);
    await stage.kubectl(create("last-good"), one);
  });

  await stage.kubectl(["delete", "vpol", "last-good", "never-good", "beside", "--ignore-not-found"]);
  await stage.kubectl(["delete", "cap", "no-module"]);
  assert.equal(await server.stop(), 0);
}

/** Whether the status says in which line of which field the expression is wrong. */
async function mistakeIn(stage: Stage, name: string): Promise<boolean> {
  const object = await stage.get("vpol", name);
  return conditionsOf(object).some(
    ({ status, message }) => status === "False" && /spec\.validations\[0\]\.expression.*line \d+/.test(message),
  );
}
