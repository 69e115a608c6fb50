/** The exit codes that docs/command-line.md promises stand in one table, which every command has a row of. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { commandLine } from "../../src/cli/command-line.js";
import { EXIT_MEANINGS } from "../../src/cli/exit-codes.js";
import { EXIT, worstOf } from "../../src/data/exit-codes.js";

const { stdin, stdout, stderr } = process;
const program = commandLine({ env: {}, stdin, stdout, stderr }, () => {});

describe("exit codes", () => {
  test("every command says what its own mean", () => {
    const names = program.commands.map((command) => command.name());
    assert.deepEqual(Object.keys(EXIT_MEANINGS).sort(), names.toSorted());
  });

  test("--allow-empty is for the commands that can end with nothing judged", () => {
    for (const command of program.commands) {
      const has = command.options.some(({ long }) => long === "--allow-empty");
      assert.equal(has, EXIT_MEANINGS[command.name()]?.nothing !== undefined, command.name());
    }
  });

  test("what could not be asked counts more than a no, and a no more than nothing", () => {
    assert.equal(worstOf([]), EXIT.FINE);
    assert.equal(worstOf([EXIT.FINE, EXIT.NOTHING_JUDGED]), EXIT.NOTHING_JUDGED);
    assert.equal(worstOf([EXIT.NOTHING_JUDGED, EXIT.NO]), EXIT.NO);
    assert.equal(worstOf([EXIT.NO, EXIT.NOT_ASKED, EXIT.NOTHING_JUDGED]), EXIT.NOT_ASKED);
  });
});
