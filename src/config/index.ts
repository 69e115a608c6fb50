/** The public face of the configuration room. */

export { addressHint, missingFileHint, moduleKey } from "./address-hints.js";
export { filesOf } from "./config-files.js";
export { Origin } from "./documents/origin.js";
export { formatPath, formatProblem, type Path, type Position, type Problem } from "./documents/problem.js";
export { type InnerPlace, parseResources, SourceDocument } from "./documents/source-document.js";
export type * from "./entry.js";
export { type ConfigResult, loadConfig, type ParseOptions, parseConfig } from "./load-config.js";
export { addressPath, type ModuleAddress, parseModuleAddress } from "./module-address.js";
export {
  isPluginManifest,
  type ManifestModule,
  type PluginManifest,
  readPluginManifest,
} from "./plugin-manifest/read.js";
