/**
 * Every command of the pages on moving here is run in a folder that has the files that the page speaks of, and prints the page's verdicts.
 * `DOCS=write node scripts/test.mjs docs/moving` writes into the pages what is printed.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { commandLine, runCommandLine } from "../../src/cli/command-line.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { ShownPage } from "../support/shown-page.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const pages = readdirSync(join(repository, "docs")).filter((name) => /^moving-from-.*\.md$/.test(name));
const OURS = /(?:^|\s)(?:\$ )?(?:npx )?policy-server ([a-z].*)$/;

/** A cluster with what the page on Kyverno asks about. */
async function cluster(context: TestContext): Promise<string> {
  const server = await FakeApiServer.start(context);
  const verbs = ["get", "list"];
  const answers = {
    "/apis": { groups: [] },
    "/api/v1": {
      resources: [
        { name: "pods", kind: "Pod", namespaced: true, verbs },
        { name: "namespaces", kind: "Namespace", namespaced: false, verbs },
      ],
    },
  };
  for (const [path, answer] of Object.entries(answers)) {
    server.special.set(path, (_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  }
  const images = { sandbox: "nginx:latest", shop: "nginx:1.29", billing: "redis:latest" };
  for (const [namespace, image] of Object.entries(images)) {
    server.put("namespaces", { metadata: { name: namespace } });
    server.put("pods", { metadata: { name: "web", namespace }, spec: { containers: [{ name: "web", image }] } });
  }
  return server.kubeconfig();
}

/** What a command prints, errors among it. */
async function printed(line: string): Promise<{ readonly code: number; readonly screen: string }> {
  const stdout = new PassThrough();
  const screen = text(stdout);
  const code = await runCommandLine(line.trim().split(/\s+/), {
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr: stdout,
  });
  stdout.end();
  return { code, screen: await screen };
}

describe("pages on moving here", () => {
  const start = process.cwd();
  after(() => process.chdir(start));
  const { stdin, stdout, stderr } = process;
  const program = commandLine({ env: {}, stdin, stdout, stderr }, () => {});

  for (const name of pages) {
    const written = readFileSync(join(repository, "docs", name), "utf8");
    const folder = join(repository, "test/fixtures/moving", name.replace(/^moving-from-|\.md$/g, ""));

    test(`${name}: commands have the options that it names`, () => {
      const blocks = [...written.matchAll(/```(?:sh|console)\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
        block.split("\n"),
      );
      const inline = [...written.matchAll(/`((?:npx )?policy-server [^`]+)`/g)].map(([, command = ""]) => command);
      for (const line of [...blocks, ...inline]) {
        const [command = "", ...words] = OURS.exec(line.replace(/\s#.*/, ""))?.[1]?.split(/\s+/) ?? [];
        if (command === "") continue;
        const found = program.commands.find((each) => each.name() === command);
        assert.ok(found !== undefined, line);
        for (const word of words.filter((each) => each.startsWith("-") && each !== "-")) {
          const flag = word.replace(/=.*/, "");
          assert.ok(
            found.options.some(({ short, long }) => short === flag || long === flag),
            `${line}: ${flag}`,
          );
        }
      }
    });

    if (!existsSync(folder)) continue;
    describe(name, () => {
      before(() => process.chdir(folder));
      const page = new ShownPage(name);
      for (const step of page.steps) {
        const command = step.kind === "run" ? OURS.exec(`$ ${step.command}`)?.[1] : undefined;
        // Others are run by the test of shown commands.
        if (step.kind !== "run" || command === undefined || written.includes(`-->\n${step.block}`)) continue;
        test(step.command, async (context) => {
          const more = command.includes("--cluster") ? ` --kubeconfig ${await cluster(context)}` : "";
          const { code, screen } = await printed(command + more);
          assert.ok(code <= 1, screen);
          page.shows(step, screen.replaceAll(folder, "…"), { figures: command.startsWith("eval") });
        });
      }
      after(() => page.done());
    });
  }
});
