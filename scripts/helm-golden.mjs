// Renders the chart for every file of values in test/vectors/helm, and the kustomizations of deploy/manifests, and compares with what is committed in
// test/vectors; `--write` replaces it: `npm run helm-golden`, and `npm run helm-golden -- --write`. Needs kubectl on the PATH, and Go the first time, for Helm.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chartHash, manifestsHash } from "../dist/test/deploy/chart-hash.js";
import { helmProgram } from "../dist/test/helm/helm.js";

const root = new URL("..", import.meta.url);
const chart = fileURLToPath(new URL("deploy/helm/policy-server", root));
const folder = new URL("test/vectors/helm/", root);
const kustomized = new URL("test/vectors/kustomize/", root);
const helm = helmProgram();
const write = process.argv.includes("--write");

function run(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}

let stale = 0;
function hold(golden, rendered, from) {
  if (write) writeFileSync(golden, rendered);
  else if (readFileSync(golden, "utf8") !== rendered) {
    stale += 1;
    console.error(`${fileURLToPath(golden)} is not what comes of ${from}; npm run helm-golden -- --write`);
  }
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".values.yaml"))) {
  const values = fileURLToPath(new URL(file, folder));
  run(helm, "lint", "--strict", "--kube-version", "1.30.0", "--values", values, chart);
  const release = ["policy-server", chart, "--namespace", "admission", "--kube-version", "1.30.0"];
  // Helm 3 and 4 leave different blank lines behind an object.
  const rendered = run(helm, "template", ...release, "--values", values).replace(/\n+(?=---\n|$)/g, "\n");
  hold(new URL(file.replace(".values.yaml", ".rendered.yaml"), folder), rendered, file);
}
for (const name of ["from-cluster"]) {
  const rendered = run("kubectl", "kustomize", fileURLToPath(new URL(`deploy/manifests/${name}`, root)));
  hold(new URL(`${name}.rendered.yaml`, kustomized), rendered, name);
}
// So that a test without Helm and kubectl notices a change.
if (write) {
  writeFileSync(new URL("chart.sha256", folder), `${chartHash()}\n`);
  writeFileSync(new URL("manifests.sha256", kustomized), `${manifestsHash()}\n`);
}
process.exitCode = stale > 0 ? 1 : 0;
