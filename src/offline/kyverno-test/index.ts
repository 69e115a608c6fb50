/** Exports for tests in Kyverno's format. */
export { testEvaluator } from "./evaluate.js";
export { DEFAULT_FILE_NAME, findTestFiles } from "./find-files.js";
export { rowMembers } from "./formats.js";
export { runTestFiles, type TestedRow, type TestRunOptions, type TestRunResult } from "./run.js";
