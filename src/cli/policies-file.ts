import { existsSync } from "node:fs";

/** File names looked for when none is given: ours, then Kubewarden's. */
const DEFAULT_FILES = ["policies.yaml", "policies.yml"] as const;

/** The file of the option `policies`, or one that is there; undefined when there is neither. */
export function givenFile({ policies }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof policies === "string" ? policies : DEFAULT_FILES.find((name) => existsSync(name));
}

/** The file of the option `policies`, or the one that is there. */
export function policiesFile(values: Readonly<Record<string, unknown>>): string {
  return givenFile(values) ?? DEFAULT_FILES[0];
}
