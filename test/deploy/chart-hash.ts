/** One hash over everything that Helm's output depends on: the chart, and the files of values that it is rendered with. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { files, root } from "./objects.js";

const CHART = "deploy/helm/policy-server/";

/** The hash as hexadecimal digits. */
export function chartHash(): string {
  const chart = readdirSync(new URL(CHART, root), { recursive: true })
    .map((name) => `${CHART}${String(name)}`)
    .filter((name) => statSync(new URL(name, root)).isFile());
  const values = files("test/vectors/helm/").filter((file) => file.endsWith(".values.yaml"));
  const hash = createHash("sha256");
  for (const file of [...chart, ...values].sort()) {
    hash.update(`${file}\n`).update(readFileSync(new URL(file, root)));
  }
  return hash.digest("hex");
}
