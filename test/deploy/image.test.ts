import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";
import { root } from "./objects.js";

const read = (file: string): string => readFileSync(new URL(file, root), "utf8");

/** Instructions with their continuation lines joined, without comments. */
const instructions = read("Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .flatMap((line) => {
    const [, name = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    return name === "" ? [] : [{ name, rest }];
  });
const last = instructions.slice(instructions.map(({ name }) => name).lastIndexOf("FROM"));
const ofStage = (name: string): string[] => last.filter((one) => one.name === name).map(({ rest }) => rest);

describe("the Dockerfile", () => {
  test("whatever it copies is there, and is let in by .dockerignore", () => {
    const letIn = new Set(Array.from(read(".dockerignore").matchAll(/^!(.+)$/gm), ([, name]) => name));
    const copied = instructions.filter(({ name, rest }) => name === "COPY" && !rest.startsWith("--from="));
    const sources = copied.flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1));
    assert.ok(sources.length > 4);
    for (const source of sources) {
      assert.ok(existsSync(new URL(source, root)), source);
      assert.ok(letIn.has(source), `${source} is ignored`);
    }
    assert.deepEqual([...letIn].sort(), [...new Set(sources)].sort());
  });

  test("what it takes from the stage before is made there", () => {
    const made = new Set(["node_modules", "dist/page", "dist/server", "package.json"]);
    const taken = ofStage("COPY").flatMap((rest) => /^--from=build \/build\/(\S+)/.exec(rest)?.[1] ?? []);
    assert.deepEqual(taken.sort(), [...made].sort());
  });

  test("it starts node itself, on the file that the build makes", () => {
    const [entry] = ofStage("ENTRYPOINT");
    const [folder] = ofStage("WORKDIR");
    const [node, flag, file = ""] = JSON.parse(entry ?? "[]") as string[];
    const allocator = ofStage("ENV").flatMap((rest) => rest.match(/MALLOC_\w+=\d+/g) ?? []);
    assert.equal(
      `#!/usr/bin/env -S ${allocator.join(" ")} ${node} ${flag}`,
      read("dist/server/main.js").split("\n")[0],
    );
    assert.ok(file.startsWith(`${folder}/`));
    const inside = file.slice(`${folder}/`.length);
    assert.ok(existsSync(new URL(inside, root)), inside);
    assert.equal(inside, (JSON.parse(read("package.json")) as { bin: Record<string, string> }).bin["policy-server"]);
  });

  test("it runs as a user who is not root, by number, the one of the manifests", () => {
    const [user = ""] = ofStage("USER");
    assert.match(user, /^[1-9]\d*:[1-9]\d*$/);
    assert.ok(read("deploy/manifests/base/deployment.yaml").includes(`runAsUser: ${user.split(":")[0]}\n`));
  });

  test("its variables are known, its ports the defaults, its Node one that the package takes", () => {
    const names = ofStage("ENV").flatMap((rest) => rest.match(/[A-Z_]+(?==)/g) ?? []);
    const known = new Set<string>([
      ...SERVE_OPTIONS.map(({ env }) => env),
      "NODE_ENV",
      "MALLOC_ARENA_MAX",
      "MALLOC_MMAP_THRESHOLD_",
    ]);
    for (const name of names) assert.ok(known.has(name), name);
    const ports = SERVE_OPTIONS.flatMap((option) => (option.kind === "port" ? [String(option.default)] : []));
    assert.deepEqual(ofStage("EXPOSE"), [ports.join(" ")]);
    for (const { rest } of instructions.filter(({ name }) => name === "FROM")) {
      assert.ok(Number(/^node:(\d+)/.exec(rest)?.[1]) > 20, rest);
    }
  });
});
