/** An option of `serve`: how its text becomes a value, and the variable that stands for it. */

/** How an option's text becomes its value. */
export type OptionKind =
  | "string"
  | "integer"
  /** An integer that may be 0. */
  | "count"
  | "port"
  | "seconds"
  /** A number from 0.01 to 100. */
  | "factor"
  | "flag"
  /** A flag whose variable counts when it is there and not empty, as NO_COLOR does. */
  | "switch"
  | { readonly choices: readonly string[] };

/** One option. */
export interface OptionDefinition {
  /** Without the leading dashes. */
  readonly flag: string;
  /** The environment variable; the flag wins over it. */
  readonly env: string;
  readonly kind: OptionKind;
  readonly default?: string | number | boolean;
  readonly description: string;
}

/** An option as it stands in the table. */
export type Written = Omit<OptionDefinition, "env"> & Partial<Pick<OptionDefinition, "env">>;

/** A variable is named after its flag unless it says otherwise, and flags are off. */
export const defined = (option: Written): OptionDefinition => ({
  env: `KUBEWARDEN_${option.flag.toUpperCase().replaceAll("-", "_")}`,
  ...((option.kind === "flag" || option.kind === "switch") && { default: false }),
  ...option,
});
