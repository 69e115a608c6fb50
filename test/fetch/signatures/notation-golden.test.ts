/** Verdicts about the golden images that notation-go has signed, and judged (test/fixtures/images/verdicts.json). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openImageLayouts } from "../../../src/fetch/image-layout.js";
import type { Sought } from "../../../src/fetch/signatures/attestor.js";
import { notaryVerdict } from "../../../src/fetch/signatures/notation.js";

interface Golden {
  readonly name: string;
  readonly digest: string;
  readonly checks: readonly { readonly with: string; readonly verifies: boolean }[];
}

const GOLDEN = fileURLToPath(new URL("../../../../test/fixtures/images", import.meta.url));
const text = (name: string): string => readFileSync(join(GOLDEN, name), "utf8");
const COMMAND = /^notation(@sbom)? --roots (\S+)(?: --tsa-roots (\S+))?$/;
const SBOM: Sought = { kind: "referrer", artifactType: "application/vnd.cyclonedx+json" };
/** The reasons for refusing what notation does not refuse. */
const STRICTER: Readonly<Record<string, RegExp>> = {
  "notation-cose --roots certificates/notation-root.pem": /COSE, which is not served/,
  "notation-cose-and-jws --roots certificates/notation-other-root.pem": /COSE, which is not served/,
  "notation-critical --roots certificates/notation-root.pem": /critical header "\S+" is not served/,
};

const registry = openImageLayouts([GOLDEN]);
const cases = (JSON.parse(text("verdicts.json")) as readonly Golden[]).flatMap(({ name, digest, checks }) =>
  checks.flatMap(({ with: command, verifies }) => {
    const match = COMMAND.exec(command);
    return match === null ? [] : [{ name: name.replace(/.*:/, ""), image: name, digest, command, match, verifies }];
  }),
);

describe("verdicts about golden images are notation's", () => {
  for (const { name, image, digest, command, match, verifies } of cases) {
    const [, sbom, certs = "", tsaCerts] = match;
    test(`${image}: ${command}`, async () => {
      const [host = "", ...path] = `localhost:5055/${image.replace(/:.*/, "")}`.split("/");
      const attestor = { certs: text(certs), ...(tsaCerts && { tsaCerts: text(tsaCerts) }) };
      const { signal } = new AbortController();
      const about = { registry, image: { host, repository: path.join("/") }, digest, signal };
      const verdict = await notaryVerdict(attestor, sbom === undefined ? { kind: "signature" } : SBOM, about);
      const stricter = STRICTER[command.replace("notation", name)];
      assert.equal(verdict.verified, verifies && stricter === undefined, verdict.reasons.join());
      if (stricter !== undefined) assert.match(verdict.reasons.join(), stricter);
      if (!verdict.verified) assert.notEqual(verdict.reasons.length, 0);
      else if (sbom !== undefined) assert.equal((verdict.payload as { bomFormat?: string }).bomFormat, "CycloneDX");
    });
  }

  test("there are many of them", () => {
    assert.ok(cases.length > 40, `${cases.length}`);
  });
});
