/** PolicyExceptions of `apply`, by every way that they come: all versions count alike, and those that have expired exempt from nothing. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, afterEach, before, describe, mock, test } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";

const POLICY = {
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name: "p" },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
    },
    validations: [{ expression: "false", message: "no" }],
  },
};
const POD = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } };
const VERSIONS = ["v1", "v1beta1", "v1alpha1"];

const exception = (version: string, spec: object = {}, labels: object = {}) => ({
  apiVersion: `policies.kyverno.io/${version}`,
  kind: "PolicyException",
  metadata: { name: "e", namespace: "ns", labels, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { policyRefs: [{ name: "p", kind: "ValidatingPolicy" }], ...spec },
});
/** As `kubectl get -o yaml` prints several objects. */
const list = (...items: readonly object[]) => ({
  apiVersion: "v1",
  kind: "List",
  metadata: { resourceVersion: "" },
  items,
});
const bare = ({ apiVersion, kind: _, ...item }: ReturnType<typeof exception>) => ({
  apiVersion,
  kind: "PolicyExceptionList",
  items: [item],
});

describe("exceptions", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "exceptions-"));
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => mock.timers.reset());

  /** The ways: each writes the documents into files and gives the command's arguments. */
  const written = (name: string, ...documents: readonly object[]): string => {
    const path = join(folder, name);
    writeFileSync(path, documents.map((each) => JSON.stringify(each)).join("\n---\n"));
    return path;
  };
  const WAYS: Readonly<Record<string, (found: object) => readonly string[]>> = {
    "--exception": (found) => [written("p.yaml", POLICY), "-r", written("r.yaml", POD), "-e", written("e.yaml", found)],
    "--exceptions-within-policies": (found) => [
      written("p.yaml", POLICY, found),
      "-r",
      written("r.yaml", POD),
      "--exceptions-within-policies",
    ],
    "--exceptions-within-policies, kubectl's list": (found) => [
      written("p.yaml", list(POLICY, found)),
      "-r",
      written("r.yaml", POD),
      "--exceptions-within-policies",
    ],
    "--exceptions-within-resources": (found) => [
      written("p.yaml", POLICY),
      "-r",
      written("r.yaml", POD, found),
      "--exceptions-within-resources",
    ],
  };

  async function apply(args: readonly string[]) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const io = { env: {}, stdin: Readable.from([""]), stdout, stderr };
    const code = await runCommandLine(["apply", ...args], io);
    stdout.end();
    stderr.end();
    return { code, out: await out, err: (await err).replaceAll(`${folder}/`, "") };
  }
  const EXEMPT = /pass: 0, fail: 0, warn: 0, error: 0, skip: 1 /;
  const JUDGED = /pass: 0, fail: 1, warn: 0, error: 0, skip: 0 /;

  for (const [way, args] of Object.entries(WAYS)) {
    describe(`by ${way}`, () => {
      for (const version of VERSIONS) {
        test(`${version} exempts`, async () => {
          for (const found of [exception(version), list(exception(version)), bare(exception(version))]) {
            const { out, err } = await apply(args(found));
            assert.match(out, EXEMPT, err);
          }
        });

        test(`${version} that has expired exempts from nothing, with a warning`, async () => {
          mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-06-15T00:00:00Z") });
          for (const found of [
            exception(version, { expiresAt: "2026-06-14T23:59:59Z" }),
            exception(version, {}, { "cleanup.kyverno.io/ttl": "2026-06-14" }),
            exception(version, {}, { "cleanup.kyverno.io/ttl": "30d" }),
          ]) {
            const { code, out, err } = await apply(args(found));
            assert.match(out, JUDGED, err);
            assert.equal(code, 1);
            assert.match(err, /warning: PolicyException ns\/e has expired \(.*\), and exempts from nothing/);
          }
          const { out, err } = await apply(args(exception(version, { expiresAt: "2026-06-15T00:00:01Z" })));
          assert.match(out, EXEMPT);
          assert.equal(err, "");
        });
      }

      test("an end that can't be read is an error", async () => {
        for (const found of [
          exception("v1", { expiresAt: "tomorrow" }),
          exception("v1", { expiresAt: "2030-02-30T00:00:00Z" }),
          exception("v1", { expiresAt: 2030 }),
          exception("v1", {}, { "cleanup.kyverno.io/ttl": "soon" }),
        ]) {
          const { code, out, err } = await apply(args(found));
          assert.notEqual(code, 0);
          assert.doesNotMatch(out, EXEMPT);
          assert.match(err, /Error: failed to load exceptions .*(expiresAt|cleanup\.kyverno\.io\/ttl)/);
        }
      });

      test("a version that does not exist is an error", async () => {
        const { code, err } = await apply(args(exception("v2")));
        assert.notEqual(code, 0);
        assert.match(err, /Error: failed to load exceptions .*policies\.kyverno\.io\/v2/);
      });
    });
  }
});
