/** Tenants who send what hurts most, at policies of every kind. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AttackReport, attack, describeAttack, type Shot, trickle } from "../../support/attack.js";
import { AIMS, hostilePolicies, hostileShots, wrongForHostile } from "../../support/hostile.js";
import { knownPolicies } from "../../support/reviews.js";
import { ROOT, type Scenario } from "../stage.js";

/** Clients that send one request after the other. */
const ATTACKERS = 2;
/** Phases that share the seconds of the scenario. */
const PHASES = 4;
/** Bytes of the objects with which guests are told to misbehave. */
const SMALL = 1000;
/** Milliseconds after which clients give up: while policies are at it. */
const ABANDON_AFTER_MS = 50;
/** Clients whose bodies come byte by byte. */
const TRICKLING = 20;

/** @param limit of bodies; absent: the default */
function hostileOf(name: string, bytes: number, limit?: number): Scenario {
  return {
    name,
    what: `objects of ${bytes / 1e6} MB shaped to hurt, at policies of every kind; slow and abandoning clients`,
    async play(stage) {
      const file = join(stage.folder, "policies.yaml");
      writeFileSync(file, `${knownPolicies(ROOT)}${hostilePolicies(ROOT, stage.folder)}`);
      await stage.open({
        policies: file,
        args: [...(limit === undefined ? [] : ["--max-body-bytes", `${limit}`]), "--log-level", "warn"],
      });
      const { url } = stage.server;
      const phase = async (name: string, shots: () => Shot, abandonAfter?: number): Promise<void> => {
        let report: AttackReport | undefined;
        await stage.phase(name, async () => {
          const end = performance.now() + (stage.seconds * 1000) / PHASES;
          const next = () => (performance.now() < end ? shots() : undefined);
          const gone = abandonAfter === undefined ? {} : { abandonAfter };
          report = await attack(url, { clients: ATTACKERS, next, wrong: wrongForHostile, ...gone });
        });
        if (report === undefined) return;
        for (const text of report.wrong) stage.breach(`${name}: ${text}`);
        stage.note(`${name}: ${describeAttack(report)}`);
      };
      const slow = trickle(url, "/validate/h-cel", TRICKLING);
      await phase("cel", hostileShots(bytes, AIMS.cel));
      await phase("guests", hostileShots(bytes, AIMS.guests));
      await phase("chaos", hostileShots(SMALL, AIMS.chaos));
      await phase("abandoned", hostileShots(bytes, AIMS.all), ABANDON_AFTER_MS);
      slow.end();
      stage.expect(stage.server.logged("a serving process died") === 0, "a serving process died");
      stage.expect(stage.server.logged("a policy failed unexpectedly") === 0, "a policy failed unexpectedly");
      await stage.aftermath();
      await stage.close();
    },
  };
}

/** At the default limit of bodies. */
export const hostile: Scenario = hostileOf("hostile", 1_990_000);
/** With a limit that somebody has raised. */
export const hostileLarge: Scenario = hostileOf("hostile-large", 8_000_000, 16_000_000);
