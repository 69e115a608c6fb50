/** Bounds on configuration files: a hostile or broken file ends in an error, never in an exhausted server. */

/** Largest file read, in bytes: Kubernetes caps a ConfigMap at 1 MiB; eight times that leaves room for files of other origin. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Most problems reported for one file: a person reads the first ones. */
export const MAX_PROBLEMS = 200;
/** Most files that one `resource` entry may name through folders. */
export const MAX_RESOURCE_FILES = 1000;
/** Deepest nesting of inline groups; by-reference groups may be chained on. */
export const MAX_GROUP_DEPTH = 16;
/** Most policies and members of one configuration, those that resources bring in included. */
export const MAX_POLICIES = 10_000;
