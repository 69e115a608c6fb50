/** What others use of tests in Kyverno's format. */
export { evaluateTest } from "./evaluate.js";
export { DEFAULT_FILE_NAME, findTestFiles } from "./find-files.js";
export { runTestFiles, type TestedRow, type TestRunOptions } from "./run.js";
