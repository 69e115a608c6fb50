/** Every flag of Kyverno's `apply` and `test` is taken or refused with what to use instead. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { commandLine, runCommandLine } from "../../src/cli/command-line.js";
import { KYVERNO_FLAGS } from "../../src/cli/kyverno-flags.js";

/** The flags in the source of 1.19.1 (`commands/apply/command.go`, `commands/test/command.go`): name, letter, and `=` for one with a value. */
const PUBLISHED = {
  apply: `json= http-payload= envoy-payload= resource,r= resources= target-resource= target-resources= cluster,c output,o= userinfo,u= set,s=
    values-file,f= context-file= policy-report,p output-format= namespace,n= stdin,i registry kubeconfig= context= git-branch,b= username= password=
    audit-warn warn-exit-code= warn-no-pass warnings-as-errors remove-color detailed-results table,t parameter-resource= exception,e= exceptions=
    continue-on-fail exceptions-with-resources exceptions-within-resources exceptions-within-policies generate-exceptions generated-exception-ttl=
    cluster-wide-resources concurrent= batch-size= continue-on-error show-performance crd-paths= crd-path= v,v=`,
  test: `file-name,f= git-branch,b= test-case-selector,t= output-format,o= registry fail-only remove-color detailed-results require-tests
    warnings-as-errors v,v=`,
};

interface Published {
  readonly long: string;
  readonly short: string | undefined;
  readonly valued: boolean;
}

const published = (list: string): readonly Published[] =>
  list.split(/\s+/).map((each) => {
    const [, name = "", letter] = /^([\w-]+)(?:,(\w))?=?$/.exec(each) ?? [];
    return { long: `--${name}`, short: letter && `-${letter}`, valued: each.endsWith("=") };
  });

async function run(args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([""]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

const POLICY = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.metadata.name == 'a'"}]
`;
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
const TEST = `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
policies: [p.yaml]
resources: [r.yaml]
results: [{policy: p, kind: Pod, resources: [a], result: pass}]
`;

describe("flags of Kyverno's command", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kyverno-flags-"));
    writeFileSync(join(folder, "p.yaml"), POLICY);
    writeFileSync(join(folder, "r.yaml"), POD);
    writeFileSync(join(folder, "kyverno-test.yaml"), TEST);
  });
  after(() => rmSync(folder, { recursive: true }));
  const good = (command: string): readonly string[] =>
    command === "test" ? ["test", folder] : ["apply", join(folder, "p.yaml"), "-r", join(folder, "r.yaml")];

  const { stdin, stdout, stderr } = process;
  const program = commandLine({ env: {}, stdin, stdout, stderr }, () => {});
  for (const name of ["apply", "test"] as const) {
    const command = program.commands.find((each) => each.name() === name);
    const flags = published(PUBLISHED[name]);

    test(`${name} knows each, with its letter, and whether it has a value`, () => {
      const known = flags.map(({ long }) => {
        const option = command?.options.find((each) => each.long === long);
        return { long, short: option?.short, valued: option?.required };
      });
      assert.deepEqual(
        known,
        flags.map(({ long, short, valued }) => ({ long, short, valued })),
      );
    });

    test(`the table has each flag of ${name}, and no other`, () => {
      const listed = KYVERNO_FLAGS.filter(({ commands }) => commands.includes(name)).flatMap((row) => row.flags);
      const written = ({ long, short, valued }: Published) => `${short ? `${short}, ` : ""}${long}${valued ? "=" : ""}`;
      assert.deepEqual(listed.map((each) => each.replace(/ <.*/, "=")).sort(), flags.map(written).sort());
    });

    for (const { commands, flags: spellings, here, why = "" } of KYVERNO_FLAGS) {
      if (!commands.includes(name) || here === "taken") continue;
      for (const spelling of spellings) {
        for (const flag of spelling.replace(/ <.*/, "").split(", ")) {
          const args = () => [...good(name), flag, ...(spelling.includes("<") ? ["4"] : [])];
          if (here === "refused") {
            test(`${name} ${flag} is refused, with what to use instead`, async () => {
              const { code, out, err } = await run(args());
              assert.equal(code, 2);
              assert.equal(out, "");
              assert.equal(err, `Error: ${spelling.replace(/ <.*/, "")} of Kyverno's command is not served: ${why}\n`);
            });
          } else {
            test(`${name} ${flag} has no effect, and says so when asked`, async () => {
              const without = await run(good(name));
              assert.equal(without.code, 0);
              assert.deepEqual(await run(args()), without);
              const { err } = await run([...args(), "--verbose"]);
              assert.equal(err, `note: ${spelling.replace(/ <.*/, "")} has no effect here: ${why}\n`);
            });
          }
        }
      }
    }
  }

  test("objects of no namespace are not left out unsaid", async () => {
    const { code, err } = await run([...good("apply"), "--cluster", "--cluster-wide-resources", "-n", "shop"]);
    assert.equal(code, 2);
    assert.match(err, /^Error: --cluster-wide-resources .* --namespace leaves them out/);
  });

  test("values are written as Go's flags know them", async () => {
    const table = (await run([...good("apply"), "--table"])).out;
    assert.match(table, /│ Pass/);
    for (const flag of ["-t", "--table=true", "-t=true", "--table=1", "--table=T"]) {
      assert.equal((await run([...good("apply"), flag])).out, table, flag);
    }
    const plain = (await run(good("apply"))).out;
    for (const flag of ["--table=false", "-t=false", "--table=0", "--registry=false", "--stdin=False"]) {
      assert.equal((await run([...good("apply"), flag])).out, plain, flag);
    }
    const [command = "", policy = "", , resource = ""] = good("apply");
    for (const flag of [`-r=${resource}`, `-r${resource}`, `--resource=${resource}`]) {
      assert.equal((await run([command, policy, flag])).out, plain, flag);
    }
    assert.equal((await run([...good("test"), "-f=kyverno-test.yaml", "--fail-only=false"])).code, 0);
    for (const flag of ["--table=yes", "--registry=", "--nonsense=true"]) {
      assert.equal((await run([...good("apply"), flag])).code, 2, flag);
    }
  });
});
