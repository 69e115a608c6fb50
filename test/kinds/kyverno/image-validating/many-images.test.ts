/** Requests with more images than any pod has: they hold up no others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { globMatcher, LONGEST_GLOB, LONGEST_MATCHED } from "../../../../src/kinds/kyverno/image-validating/glob.js";
import { CountedTurns } from "../../../support/counted-turns.js";
import { asked, creating, digest, leftBy, pod, policy, registry, told } from "./signed-images.js";

const APP = { "ex.io/app:1": { digest: digest("a"), signers: ["dev"] } };
const pods = (count: number, image: string) => creating(pod(...new Array<string>(count).fill(image)));
const MOST = 2_048;

describe("many images", () => {
  test("are all pinned, up to a limit", async () => {
    const pinning = { allowedToMutate: true };
    const { outcome } = await asked([policy()], registry(APP), pods(MOST, "ex.io/app:1"), pinning);
    assert.deepEqual(leftBy(outcome), pod(...new Array<string>(MOST).fill(`ex.io/app:1@${digest("a")}`)));
    const beyond = await asked([policy()], registry(APP), pods(50_000, "ex.io/app:1"), pinning);
    assert.match(told(beyond.outcome), /^error: .*more than 2048 images have tags/);
  });

  test("give others their turn while globs are matched, and each is matched once", async () => {
    const matchImageReferences = [{ glob: `${"*".repeat(500)}${"a?".repeat(200)}` }];
    const own = policy({ matchImageReferences, validations: [{ expression: "size(images.containers) == 1" }] });
    const images = Array.from({ length: 40 }, (_, i) => `ex.io/${i}${"a".repeat(1_000)}`);
    const turns = new CountedTurns();
    const { outcome } = await asked([own], registry(APP), creating(pod(...images)), {
      context: { turns },
      now: () => performance.now(),
    });
    assert.match(told(outcome), /image ex.io\/0a+: the registry has no such manifest/);
    assert.ok(turns.count >= 10, `${turns.count} turns`);
    assert.ok(turns.count <= 60, `${turns.count} turns`);
  });

  test("that are too long for references count as matching without being matched", () => {
    const glob = globMatcher("*?".repeat(LONGEST_GLOB / 2));
    assert.ok(typeof glob === "function");
    const began = performance.now();
    for (let i = 0; i < 1_000; i++) assert.equal(glob("a".repeat(LONGEST_MATCHED + 1)), true);
    assert.ok(performance.now() - began < 1_000);
  });
});
