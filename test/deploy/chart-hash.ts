/** Hashes over everything that the output of Helm and of kustomize depends on. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { files, root } from "./objects.js";

const CHART = "deploy/helm/policy-server/";

/** Of the chart, and the files of values that it is rendered with, as hexadecimal digits. */
export function chartHash(): string {
  const chart = everyFile(CHART);
  const values = files("test/vectors/helm/").filter((file) => file.endsWith(".values.yaml"));
  return hashOf([...chart, ...values]);
}

/** Of the plain manifests, and the CRDs that they take from the chart. */
export function manifestsHash(): string {
  return hashOf([...files("deploy/manifests/"), ...files(`${CHART}files/crds/`)]);
}

function everyFile(folder: string): string[] {
  return readdirSync(new URL(folder, root), { recursive: true })
    .map((name) => `${folder}${String(name)}`)
    .filter((name) => statSync(new URL(name, root)).isFile());
}

function hashOf(names: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of [...names].sort()) hash.update(`${file}\n`).update(readFileSync(new URL(file, root)));
  return hash.digest("hex");
}
