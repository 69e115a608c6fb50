/** The kinds of mistakes in files. Each has its section in docs/errors.md; a test checks that. */

/** Every code of a problem. */
export const PROBLEM_CODES = [
  "CEL_ABSENT",
  "CEL_EXPRESSION",
  "CEL_NULL",
  "CEL_TYPES",
  "YAML_SYNTAX",
  "YAML_TAG",
  "YAML_LIMIT",
  "YAML_KEY",
  "YAML_MERGE",
  "YAML_OLD_WORD",
  "YAML_SECOND_DOCUMENT",
  "CONFIG_CYCLE",
  "CONFIG_DUPLICATE_KEY",
  "CONFIG_FILE",
  "CONFIG_KIND",
  "CONFIG_LIMIT",
  "CONFIG_MEANINGLESS_KEY",
  "CONFIG_MISSING_KEY",
  "CONFIG_NAME",
  "CONFIG_NOT_POLICIES",
  "CONFIG_REFERENCE",
  "CONFIG_UNKNOWN_KEY",
  "CONFIG_VALUE",
  "CONFIG_WRONG_TYPE",
  "CLUSTER_NEEDED",
  "KUBERNETES_UPGRADE",
  "MODULE_ADDRESS",
  "MODULE_FETCH",
  "MODULE_INVALID",
  "MODULE_MANIFEST",
  "MODULE_VERIFICATION",
  "POLICY_CAN_LOCK",
  "POLICY_DOUBT",
  "POLICY_INVALID",
  "POLICY_KIND",
  "POLICY_NEVER_ASKED",
  "POLICY_NEVER_DENIES",
  "POLICY_NOT_CONVERTED",
  "SETTINGS_INVALID",
] as const;

/** One of them. */
export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** The parts of a problem beside its place and message. */
export interface About {
  readonly code?: ProblemCode;
  /** A proposed correction, where one is known. */
  readonly hint?: string;
}
