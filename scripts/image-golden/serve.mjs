/**
 * Serves an image layout as a registry on loopback, for tools that judge it.
 *
 * node serve.mjs LAYOUT [REGISTRY-PROGRAM [ARGUMENT…]]
 *
 * Starts the program, when there is one, and pushes the layout to localhost:5055.
 */
import { spawn } from "node:child_process";
import { until } from "../sigstore-golden/common.mjs";
import { toRegistry } from "./layout.mjs";

const [layout, program, ...args] = process.argv.slice(2);
const host = "localhost:5055";
if (program) {
  const registry = spawn(program, args, { stdio: ["ignore", "ignore", "ignore"] });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => registry.kill());
  registry.on("exit", () => process.exit());
}
await until(`http://${host}/v2/`);
await toRegistry(layout, host);
console.log(`${layout} stands at ${host}`);
