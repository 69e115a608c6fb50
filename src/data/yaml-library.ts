import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The package yaml, for files other than Kubernetes' YAML: the tagged files of recorded host calls. It only reads: readers of YAML 1.1 misread what it prints (see
 * `print-yaml.ts`). Loaded when it is first used: its 70 files take 20 ms, and a server hardly ever needs one.
 */
export const yamlLibrary = (): typeof import("yaml") => require("yaml");
