/** The quick start of docs/cluster.md as an operator follows it: commands and what they print are taken from the page. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../cluster.js";
import { ROOT, type Stage } from "./stage.js";

/** A block of the page. */
interface Block {
  readonly language: string;
  readonly text: string;
}

export async function walkThrough(stage: Stage): Promise<void> {
  const folder = mkdtempSync(join(stage.folder, "walk-"));
  const server = await stage.replica("walk-through", "--audit-interval=2");
  let ran = 0;
  for (const { language, text } of blocks()) {
    if (language === "yaml") {
      const [, name] = /^# (\S+\.yaml)\n/.exec(text) ?? [];
      assert.ok(name !== undefined, `the first line of a YAML block names its file: ${text.slice(0, 60)}`);
      writeFileSync(join(folder, name), text);
    } else if (language === "console") {
      for (const step of text.split(/^\$ /m).filter((part) => part !== "")) {
        const [command = "", ...printed] = step.trimEnd().split("\n");
        await prints(stage, folder, command, printed.join("\n"));
        ran += 1;
      }
    }
  }
  assert.ok(ran >= 8, "the page walks through more than a few commands");
  assert.equal(await server.stop(), 0);
  console.log(`${ran} commands of docs/cluster.md print what the page says`);
}

/** The blocks of the section. */
function blocks(): Block[] {
  const page = readFileSync(join(ROOT, "docs/cluster.md"), "utf8");
  const [, section = ""] = /\n## Quick start\n([\s\S]*?)\n## /.exec(page) ?? [];
  return Array.from(section.matchAll(/```(\w+)\n([\s\S]*?)```/g), ([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/**
 * Runs a command, which prints what the page says: where it asks for what our server does, after a moment. Without our server only these must fail: what the
 * others do may be done already.
 */
async function prints(stage: Stage, folder: string, command: string, expected: string): Promise<void> {
  const pattern = new RegExp(`^${expected.trimEnd().split("…").map(literally).join("[^\\n]*?")}$`);
  const once = async (): Promise<true | string> => {
    const { text } = await run("bash", ["-c", `${stage.cluster.kubectlFunction()}\n${command}`], { cwd: folder });
    return pattern.test(squeezed(text)) || `$ ${command}\n${text}\n--- in place of\n${expected}`;
  };
  const isOurs = /^kubectl (?:-n \S+ )?(?:get|wait)\b/.test(command) || expected.includes("denied the request");
  if (isOurs) {
    // What creates something is done once.
    const isQuestion = !/ run (?!.*--dry-run=server)/.test(command);
    await stage.claim(`$ ${command}`, async () => {
      if (isQuestion) await stage.until("what the page says", once);
      else assert.equal(await once(), true);
    });
    return;
  }
  const said = await once();
  if (!stage.withoutServer && /--dry-run=server/.test(command)) await stage.until("what the page says", once);
  else if (!stage.withoutServer) assert.equal(said, true);
  console.log(`$ ${command}`);
}

/** Columns are as wide as what stands in them. */
const squeezed = (text: string): string =>
  text
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ $/gm, "")
    .trimEnd();

const literally = (text: string): string => text.replaceAll(/[ \t]+/g, " ").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
