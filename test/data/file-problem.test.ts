import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileProblem } from "../../src/data/file-problem.js";

const problemOf = (path: string): string => {
  try {
    readFileSync(path);
  } catch (error) {
    return fileProblem(error);
  }
  assert.fail("nothing failed");
};

test("a failure of the file system is told without the call and the path; others as they are", () => {
  assert.equal(problemOf(join(tmpdir(), "nothing", "there")), "no such file or folder");
  assert.equal(problemOf(tmpdir()), "it is a folder");
  assert.equal(fileProblem(new Error("something else")), "something else");
  assert.equal(fileProblem(null), "null");
  assert.equal(fileProblem(Object.assign(new Error("odd"), { code: "constructor" })), "odd");
});
