// Counts the files and functions of dist/src that one warm request of an inline CEL policy enters, by V8's coverage: node scripts/files-of-a-request.mjs [--list] [FOLDER OF A BUILD]

import { request } from "node:http";
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const WARM_UP = 50;
const list = process.argv.includes("--list");
const [build = fileURLToPath(new URL("../dist/src", import.meta.url))] = process.argv
  .slice(2)
  .filter((each) => each !== "--list");
const { createServer, loadPolicies } = await import(pathToFileURL(`${build}/index.js`).href);
const policies = "named:\n  cel:\n    validations:\n      - expression: object.metadata.name != 'no'\n";
const body = JSON.stringify({
  ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
  request: {
    ...{ uid: "1", name: "web", namespace: "shop", operation: "CREATE", userInfo: { username: "u" } },
    ...{ kind: { group: "", version: "v1", kind: "Pod" }, resource: { group: "", version: "v1", resource: "pods" } },
    object: { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "shop" }, spec: { containers: [] } },
  },
});

const loaded = await loadPolicies({ text: policies });
const server = await createServer(loaded, { port: 0 });
const ask = () =>
  new Promise((resolve, reject) => {
    const asked = request(`${server.url}/validate/named`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    asked.on("error", reject).on("response", (answer) => answer.resume().on("end", resolve));
    asked.end(body);
  });

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
for (let left = WARM_UP; left > 0; left--) await ask();
await session.post("Profiler.takePreciseCoverage");
await ask();
const { result } = await session.post("Profiler.takePreciseCoverage");
const own = pathToFileURL(build).href;
const entered = result
  .filter(({ url }) => url.startsWith(own))
  .map(({ url, functions }) => ({
    file: url.slice(own.length + 1),
    functions: functions.filter(({ functionName, ranges: [range] }) => range.count > 0 && functionName !== ""),
  }))
  .filter(({ functions }) => functions.length > 0)
  .sort((one, other) => (one.file < other.file ? -1 : 1));
if (list)
  for (const { file, functions } of entered)
    console.log(`${file}: ${functions.map(({ functionName }) => functionName).join(" ")}`);
console.log(`${entered.length} files, ${entered.reduce((sum, { functions }) => sum + functions.length, 0)} functions`);
await server.close();
loaded.close();
