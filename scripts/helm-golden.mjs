// Renders the chart for every file of values in test/vectors/helm and compares with what is committed beside it; `--write` replaces it.
// Needs helm on the PATH: `npm run helm-golden`, and `npm run helm-golden -- --write`.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chartHash } from "../dist/test/deploy/chart-hash.js";

const root = new URL("..", import.meta.url);
const chart = fileURLToPath(new URL("deploy/helm/policy-server", root));
const folder = new URL("test/vectors/helm/", root);
const write = process.argv.includes("--write");

function helm(...args) {
  const { status, stdout, stderr, error } = spawnSync("helm", args, { encoding: "utf8" });
  if (error) throw new Error(`helm could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`helm ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}

let stale = 0;
for (const file of readdirSync(folder).filter((name) => name.endsWith(".values.yaml"))) {
  const values = fileURLToPath(new URL(file, folder));
  helm("lint", "--strict", "--values", values, chart);
  const release = ["policy-server", chart, "--namespace", "admission", "--kube-version", "1.30.0"];
  const rendered = helm("template", ...release, "--values", values);
  const golden = new URL(file.replace(".values.yaml", ".rendered.yaml"), folder);
  if (write) writeFileSync(golden, rendered);
  else if (readFileSync(golden, "utf8") !== rendered) {
    stale += 1;
    console.error(`${fileURLToPath(golden)} is not what the chart makes of ${file}; npm run helm-golden -- --write`);
  }
}
// So that a test without Helm notices a changed chart.
if (write) writeFileSync(new URL("chart.sha256", folder), `${chartHash()}\n`);
process.exitCode = stale > 0 ? 1 : 0;
