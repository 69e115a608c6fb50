import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The package yaml, for what is not Kubernetes' YAML: writing some, and the tagged files of recorded host calls. Loaded when it is first used: its 70 files take
 * 20 ms, and a server hardly ever needs one.
 */
export const yamlLibrary = (): typeof import("yaml") => require("yaml");
