import { existsSync } from "node:fs";

/** File names looked for when none is given: ours, then Kubewarden's. */
const DEFAULT_FILES = ["policies.yaml", "policies.yml"] as const;

/** The file of the option `policies`, or the one that is there. */
export function policiesFile({ policies }: Readonly<Record<string, unknown>>): string {
  if (typeof policies === "string") return policies;
  return DEFAULT_FILES.find((name) => existsSync(name)) ?? DEFAULT_FILES[0];
}
