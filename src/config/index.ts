/** The face of the configuration room. */
export type * from "./entry.js";
export { type ConfigOptions, type ConfigResult, loadConfig, parseConfig } from "./load-config.js";
export { type AddressMistake, addressPath, type ModuleAddress, parseModuleAddress } from "./module-address.js";
export { Origin } from "./origin.js";
export { formatPath, formatProblem, type Path, type Position, type Problem } from "./problem.js";
export { type InnerPlace, parseResources, SourceDocument } from "./source-document.js";
