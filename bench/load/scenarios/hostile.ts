/** Tenants who send what hurts most, at policies of every kind. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attack, describeAttack, trickle } from "../../support/attack.js";
import { hostilePolicies, hostileShots, wrongForHostile } from "../../support/hostile.js";
import { knownPolicies } from "../../support/reviews.js";
import { ROOT, type Scenario } from "../stage.js";

/** Clients that send one request after the other, and those that give each up. */
const ATTACKERS = 2;
const ABANDONING = 1;
/** Milliseconds after which those give up: while policies are at it. */
const ABANDON_AFTER_MS = 50;
/** Clients whose bodies come byte by byte. */
const TRICKLING = 20;

function hostileOf(name: string, bytes: number): Scenario {
  return {
    name,
    what: `objects of ${bytes / 1e6} MB shaped to hurt, at policies of every kind; slow and abandoning clients`,
    async play(stage) {
      const file = join(stage.folder, "policies.yaml");
      writeFileSync(file, `${knownPolicies(ROOT)}${hostilePolicies(ROOT, stage.folder)}`);
      await stage.open({ policies: file, args: ["--max-body-bytes", `${2 * bytes}`, "--log-level", "warn"] });
      const { url } = stage.server;
      const shots = hostileShots(bytes);
      await stage.phase("hostile", async () => {
        const end = performance.now() + stage.seconds * 1000;
        const next = () => (performance.now() < end ? shots() : undefined);
        const slow = trickle(url, "/validate/h-cel", TRICKLING);
        const common = { next, wrong: wrongForHostile };
        const reports = await Promise.all([
          attack(url, { ...common, clients: ATTACKERS }),
          attack(url, { ...common, clients: ABANDONING, abandonAfter: ABANDON_AFTER_MS }),
        ]);
        slow.end();
        for (const report of reports) {
          for (const text of report.wrong) stage.breach(`hostile objects: ${text}`);
          stage.note(describeAttack(report));
        }
      });
      stage.expect(stage.server.logged("a serving process died") === 0, "a serving process died");
      stage.expect(stage.server.logged("a policy failed unexpectedly") === 0, "a policy failed unexpectedly");
      await stage.aftermath();
      await stage.close();
    },
  };
}

/** At the default limit of bodies. */
export const hostile: Scenario = hostileOf("hostile", 2_000_000);
/** With a limit that somebody has raised. */
export const hostileLarge: Scenario = hostileOf("hostile-large", 8_000_000);
