/** Data of Kyverno's command line that stands in files (spec kyverno.md 8.6). */
export { type EntryFiles, entryMistake, type WrittenEntry, writtenEntries } from "./context-entries.js";
export { type ClusterResources, type ContextData, parseClusterResources, parseContextFile } from "./context-file.js";
export { type MockedResponse, mockedAnswers } from "./mocks.js";
export type { Read } from "./read.js";
