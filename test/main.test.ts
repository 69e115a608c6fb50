import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bash = (script: string) => spawnSync("bash", ["-c", script, process.execPath], { cwd: root, encoding: "utf8" });

test("output that nobody reads on is no success, and not worth a word", { skip: process.platform !== "linux" }, () => {
  const example = "policies/kyverno/memory-limits";
  for (const command of [`apply ${example}/policy.yaml -r ${example}/resources.yaml`, `test ${example}`]) {
    const { status, stderr } = bash(`"$0" dist/server/main.js ${command} | true; exit \${PIPESTATUS[0]}`);
    assert.deepEqual({ status, stderr }, { status: 141, stderr: "" }, command);
  }
});

test("a disk that is full is told in one line", { skip: !existsSync("/dev/full") }, () => {
  const { status, stderr } = bash('"$0" dist/server/main.js cel "1 + 1" > /dev/full');
  assert.equal(status, 1);
  assert.match(stderr, /^Error: cannot write to standard output: ENOSPC[^\n]*\n$/);
});

describe("a Node that is too old", () => {
  const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { engines: { node: string } };
  /** Runs a program with a Node that says it is another one. */
  const asNode = (version: string, ...args: string[]) => {
    const says = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
    return spawnSync(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(says)}`, ...args], {
      cwd: root,
      encoding: "utf8",
    });
  };

  for (const version of ["12.22.12", "18.20.8", "20.16.0", "21.7.3", "22.2.0"]) {
    test(`${version} is told in one line`, () => {
      const { status, stdout, stderr } = asNode(version, "dist/server/main.js", "check");
      const line = `Error: policy-group-gateway needs Node.js 20.17, or 22.3 and newer; this is ${version} (https://nodejs.org)\n`;
      assert.deepEqual({ status, stdout, stderr }, { status: 2, stdout: "", stderr: line });
    });
  }

  test("is told to programs that import the library, or CEL alone", () => {
    for (const face of ["index.js", "cel/index.js"]) {
      const asked = `import("${root}dist/server/${face}").catch(({ code, message }) => console.log(code, message))`;
      assert.match(asNode("18.20.8", "--input-type=module", "--eval", asked).stdout, /^NODE_VERSION .* 18\.20\.8/);
    }
  });

  for (const version of ["20.17.0", "20.99.0", "22.3.0", "23.0.0", "24.1.0", "99.0.0"]) {
    test(`${version} is not`, () => {
      assert.match(asNode(version, "dist/server/main.js", "--version").stdout, /^policy-server /);
    });
  }

  test("is the same as that of package.json", () => assert.equal(manifest.engines.node, "^20.17.0 || >=22.3.0"));

  test("can read what it is given first: nothing is newer than Node 12 in it", () => {
    const main = readFileSync(`${root}dist/server/main.js`, "utf8");
    const [first = ""] = /import\("[^"]+"\)/.exec(main) ?? [];
    assert.equal(first, 'import("./data/node-version.js")');

    for (const text of [main, readFileSync(`${root}dist/server/data/node-version.js`, "utf8")]) {
      assert.doesNotMatch(text, /^import |^await |\?\?|\?\.|\|\|=|#\w+\b.*=>|getBuiltinModule/m);
    }
  });
});
