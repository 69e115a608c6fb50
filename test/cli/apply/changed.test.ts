/** `apply --changed BASE` in a repository of git. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, test } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";

const POLICY = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "false", message: "no"}]
`;
const pod = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`;

describe("apply --changed", () => {
  const before = process.cwd();
  let folder = "";
  const write = (path: string, content: string): void => writeFileSync(join(folder, path), content);
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.email=a@example.com", "-c", "user.name=a", ...args], { cwd: folder }).toString();
  const commit = (): void => {
    git("add", "-A");
    git("commit", "-qm", "x");
  };

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "changed-")));
    git("init", "-q", "-b", "main", ".");
    mkdirSync(join(folder, "manifests"));
    mkdirSync(join(folder, "policies"));
    write("policies/p.yaml", POLICY);
    for (const name of ["a", "b", "c"]) write(`manifests/${name}.yaml`, pod(name));
    commit();
    git("checkout", "-qb", "feature");
    process.chdir(folder);
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  async function apply(args: readonly string[], env: Record<string, string> = {}, stdin = "") {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const code = await runCommandLine(["apply", ...args], { env, stdin: Readable.from([stdin]), stdout, stderr });
    stdout.end();
    stderr.end();
    return { code, out: await out, err: await err };
  }
  const MANIFESTS = ["policies", "-r", "manifests", "--changed", "main"];
  /** The names of pods that were judged. */
  const judged = async (args: readonly string[] = MANIFESTS): Promise<string> => {
    const { code, out, err } = await apply(args);
    const names = [...out.matchAll(/resource default\/Pod\/(\S+) failed/g)].map(([, name]) => name);
    assert.equal(code, names.length > 0 ? 1 : 0, err);
    return names.join(" ");
  };

  test("no changed file says so, and exits with 0", async () => {
    const { code, out, err } = await apply(MANIFESTS);
    assert.equal(code, 0);
    assert.match(out, /pass: 0, fail: 0, warn: 0, error: 0, skip: 0/);
    assert.equal(err, "note: no file of resources has changed since main\n");
  });

  test("judges files that are changed in commits, in the index, or not at all in git", async () => {
    write("manifests/a.yaml", `${pod("a")}# changed\n`);
    assert.equal(await judged(), "a");
    git("add", "-A");
    assert.equal(await judged(), "a");
    git("commit", "-qm", "y");
    assert.equal(await judged(), "a");
    write("manifests/new.yaml", pod("new"));
    assert.equal(await judged(), "a new");
    write(".gitignore", "manifests/ignored.yaml\n");
    write("manifests/ignored.yaml", pod("ignored"));
    assert.equal(await judged(), "a ignored new");
    const { err } = await apply(MANIFESTS);
    assert.equal(err, "note: 3 of 5 files of resources have changed since main\n");
  });

  test("what the base has got in the meantime is not a change", async () => {
    git("checkout", "-q", "main");
    write("manifests/b.yaml", `${pod("b")}# there\n`);
    commit();
    git("checkout", "-q", "feature");
    write("manifests/a.yaml", `${pod("a")}# here\n`);
    commit();
    assert.equal(await judged(), "a");
  });

  test("renamed files are judged, deleted ones are not there", async () => {
    renameSync(join(folder, "manifests/a.yaml"), join(folder, "manifests/z.yaml"));
    rmSync(join(folder, "manifests/b.yaml"));
    assert.equal(await judged(), "a");
    commit();
    assert.equal(await judged(), "a");
  });

  test("any name will do", async () => {
    for (const [index, name] of ["c d", "new\nline", "ü", '"q"', "-x", "*", ":(top)"].entries()) {
      write(`manifests/${name}.yaml`, pod(`n${index}`));
    }
    commit();
    assert.equal((await judged()).split(" ").sort().join(" "), "n0 n1 n2 n3 n4 n5 n6");
    for (const name of ["c d", "new\nline", "-x"]) write(`manifests/${name}.yaml`, `${pod("again")}# more\n`);
    git("checkout", "-qb", "next");
    commit();
    assert.equal(
      (await apply(["policies", "-r", "manifests", "--changed", "feature"])).err.match(/^note: (\d) of/)?.[1],
      "3",
    );
  });

  test("files and folders that are named, from anywhere in the repository", async () => {
    write("manifests/a.yaml", `${pod("a")}# changed\n`);
    assert.equal(await judged(["policies", "-r", "manifests/a.yaml,manifests/b.yaml", "--changed", "main"]), "a");
    assert.equal(await judged(["policies", "-r", join(folder, "manifests"), "--changed", "main"]), "a");
    process.chdir(join(folder, "manifests"));
    assert.equal(await judged(["../policies", "-r", ".", "--changed", "main"]), "a");
  });

  test("symbolic links are followed", async () => {
    mkdirSync(join(folder, "links"));
    symlinkSync("../manifests/a.yaml", join(folder, "links/a.yaml"));
    commit();
    git("checkout", "-qb", "next");
    const links = ["policies", "-r", "links/a.yaml", "--changed", "feature"];
    assert.equal(await judged(links), "");
    write("manifests/a.yaml", `${pod("a")}# changed\n`);
    assert.equal(await judged(links), "a");
  });

  test("standard input and files outside of the repository are judged always", async () => {
    const { out } = await apply(["policies", "-r", "-", "--changed", "main"], {}, pod("piped"));
    assert.match(out, /Pod\/piped failed/);
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    writeFileSync(join(outside, "o.yaml"), pod("o"));
    assert.equal(await judged(["policies", "-r", outside, "--changed", "main"]), "o");
    rmSync(outside, { recursive: true });
  });

  describe("all resources are judged again where what judges them has changed", () => {
    const VALUES = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nglobalValues: {request.operation: CREATE}\n";
    for (const [what, args, change] of [
      ["a policy", MANIFESTS, () => write("policies/p.yaml", `${POLICY}# changed\n`)],
      ["a new policy", MANIFESTS, () => write("policies/q.yaml", POLICY.replace("name: p", "name: q"))],
      [
        "a deleted policy",
        MANIFESTS,
        () => {
          write("policies/q.yaml", POLICY.replace("name: p", "name: q"));
          commit();
          git("branch", "-f", "main");
          rmSync(join(folder, "policies/q.yaml"));
        },
      ],
      ["values", [...MANIFESTS, "-f", "values.yaml"], () => write("values.yaml", VALUES)],
    ] as const) {
      test(what, async () => {
        change();
        const { out, err } = await apply(args);
        assert.match(out, /to 3 resource\(s\)/);
        assert.match(err, /^note: \S+ has changed since main: all resources are judged\n$/);
      });
    }

    test("the target of a link among the policies, and a link that leads elsewhere", async () => {
      for (const name of ["one", "two"]) write(`${name}.yaml`, POLICY);
      symlinkSync("../one.yaml", join(folder, "policies/p2.yaml"));
      symlinkSync("../manifests", join(folder, "policies/folder"));
      commit();
      git("branch", "-f", "main");
      assert.match((await apply(MANIFESTS)).err, /^note: no file/);
      write("one.yaml", `${POLICY}# changed\n`);
      assert.match((await apply(MANIFESTS)).err, /^note: policies\/p2\.yaml has changed/);
      git("checkout", "one.yaml");
      rmSync(join(folder, "policies/p2.yaml"));
      symlinkSync("../two.yaml", join(folder, "policies/p2.yaml"));
      const named = ["policies/p2.yaml", "-r", "manifests", "--changed", "main"];
      assert.match((await apply(named)).err, /^note: policies\/p2\.yaml has changed/);
    });

    test("the submodule that policies stand in", async () => {
      const other = realpathSync(mkdtempSync(join(tmpdir(), "other-")));
      execFileSync("git", ["clone", "-q", folder, other]);
      git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "library");
      commit();
      git("branch", "-f", "main");
      const args = ["library/policies", "-r", "manifests", "--changed", "main"];
      assert.match((await apply(args)).err, /^note: no file/);
      write("library/policies/p.yaml", `${POLICY}# changed\n`);
      assert.match((await apply(args)).err, /^note: library has changed since main: all resources are judged/);
      rmSync(other, { recursive: true });
    });

    test("policies.yaml, and what stands beside it", async () => {
      mkdirSync(join(folder, "own"));
      write("own/policies.yaml", "no:\n  cel: {validations: [{expression: 'false', message: x}]}\n");
      commit();
      git("branch", "-f", "main");
      const args = ["no", "--policies", "own/policies.yaml", "-r", "manifests", "--changed", "main"];
      assert.match((await apply(args)).err, /^note: no file/);
      write("own/module.wasm", "new");
      assert.match((await apply(args)).err, /^note: own\/module\.wasm has changed/);
    });
  });

  describe("is an error with the exit code 2", () => {
    for (const base of ["nope", "", "--help", "-x", "main..feature", "HEAD:manifests", "0123456", "a\nb"]) {
      test(`where there is no commit ${JSON.stringify(base)}`, async () => {
        const { code, out, err } = await apply(["policies", "-r", "manifests", `--changed=${base}`]);
        assert.equal(code, 2);
        assert.equal(out, "");
        assert.match(err, /^Error: --changed: there is no commit '/);
      });
    }

    test("where BASE and HEAD have nothing in common", async () => {
      git("checkout", "-q", "--orphan", "other");
      write("manifests/a.yaml", pod("other"));
      commit();
      const { code, err } = await apply(MANIFESTS);
      assert.equal(code, 2);
      assert.match(err, /'main' and HEAD have no commit in common/);
    });

    test("outside of a repository", async () => {
      const outside = mkdtempSync(join(tmpdir(), "outside-"));
      process.chdir(outside);
      const { code, err } = await apply([
        join(folder, "policies"),
        "-r",
        join(folder, "manifests"),
        "--changed",
        "main",
      ]);
      assert.equal(code, 2);
      assert.match(err, /^Error: --changed: this folder is not in a git repository/);
      rmSync(outside, { recursive: true });
    });

    test("without git", async () => {
      const { code, err } = await apply(MANIFESTS, { PATH: "/nonexistent" });
      assert.equal(code, 2);
      assert.equal(err, "Error: --changed needs git, which is not installed\n");
    });
  });

  describe("nothing is green by accident", () => {
    const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

    test("a changed file that no policy is for, among others that have not changed, is fine", async () => {
      write("manifests/config.yaml", config);
      assert.equal((await apply(MANIFESTS)).code, 0);
    });

    for (const [name, content] of [
      ["values.yaml", "a: 1\n"],
      ["kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"],
      ["empty.yaml", ""],
    ] as const)
      test(`only ${name} has changed beside manifests that have not: fine, and said`, async () => {
        write(`manifests/${name}`, content);
        const { code, err } = await apply(MANIFESTS);
        assert.equal(code, 0, err);
        assert.match(err, /note: 1 of 4 files of resources have changed since main/);
        assert.equal(
          (await apply(["policies", "-r", "manifests/empty.yaml", "--changed", "main"])).code,
          content === "" ? 3 : 2,
        );
      });

    test("where all files have changed, no policy for any of them is not", async () => {
      mkdirSync(join(folder, "others"));
      write("others/config.yaml", config);
      assert.equal((await apply(["policies", "-r", "others", "--changed", "main"])).code, 3);
    });

    test("a folder without manifests, and one that is not there, are not", async () => {
      mkdirSync(join(folder, "empty"));
      assert.equal((await apply(["policies", "-r", "empty", "--changed", "main"])).code, 3);
      assert.equal((await apply(["policies", "-r", "manifests,empty", "--changed", "main"])).code, 3);
      assert.equal((await apply(["policies", "-r", "nope", "--changed", "main"])).code, 2);
    });

    test("policies that are not there, or broken, are not, although no resource has changed", async () => {
      mkdirSync(join(folder, "broken"));
      write("broken/p.yaml", POLICY.replace('"false"', '"object.("'));
      mkdirSync(join(folder, "none"));
      write("none/notes.txt", "nothing");
      commit();
      git("branch", "-f", "main");
      for (const [policies, expected] of [
        ["nope", 2],
        ["broken", 2],
        ["none", 3],
      ] as const) {
        const { code, err } = await apply([policies, "-r", "manifests", "--changed", "main"]);
        assert.equal(code, expected, `${policies}: ${err}`);
      }
    });

    test("a changed manifest of a misspelt kind is not", async () => {
      write("manifests/a.yaml", pod("a").replace("Pod", "Pdo"));
      assert.equal((await apply(MANIFESTS)).code, 2);
    });
  });

  test("is refused where it has nothing to choose among, or would lose exceptions", async () => {
    for (const args of [
      ["policies", "--cluster", "--changed", "main"],
      ["policies", "--json", "x.json", "--changed", "main"],
      [...MANIFESTS, "--exceptions-within-resources"],
    ]) {
      const { code, err } = await apply(args);
      assert.notEqual(code, 0);
      assert.match(err, /^Error: --changed /);
    }
  });
});
