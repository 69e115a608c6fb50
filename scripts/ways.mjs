// Which modules go into one file. Every file costs a process that loads it half a millisecond of CPU and 20 KiB, and a serving process would load 130 of them if modules were
// split by who imports them.
import { join } from "node:path";

/**
 * Ways on which code is loaded, by the modules that each begins with: the executable before it knows its command; a serving process; one that has groups, or
 * policies in CEL of each kind; a guest's thread, and the one that rewrites modules; guests of each protocol; the other threads, and what programs import. What lies on the same ways goes
 * into one file. So no way loads what lies on others only, and files import each other in one direction. What lies on no way is split by who imports it.
 */
const WAYS = {
  executable: ["main.js", "cli/command-line.js"],
  serve: [
    "cli/serve-settings.js",
    "serving/index.js",
    "serving/serve-alone.js",
    "serving/cluster-agent.js",
    "loader/policy-source.js",
  ],
  group: ["kinds/group/kind.js"],
  admission: [
    "kinds/validating-admission-policy/kind.js",
    "kinds/validating-admission-policy/dialect.js",
    "kinds/admission-policy/dialect.js",
    "kinds/admission-policy/server.js",
  ],
  kyverno: ["kinds/kyverno/kind.js"],
  certificates: ["kinds/certificate-request-policy/kind.js"],
  thread: ["wasm/run/worker/main.js"],
  modules: ["wasm/module/rewriting-worker.js"],
  wapc: ["wasm/protocols/wapc/guest.js"],
  extism: ["wasm/protocols/extism/guest.js"],
  wasi: ["wasm/protocols/wasi/guest.js"],
  rego: ["wasm/protocols/opa/guest.js", "wasm/protocols/opa/answer.js", "wasm/protocols/gatekeeper/answer.js"],
  webhook: ["kinds/certificate-request-policy/webhook-worker.js"],
  scan: ["offline/scan/thread.js"],
  draft: ["page/play/thread.js"],
  library: ["index.js"],
  cel: ["cel/index.js"],
};

/** A file is named by so many ways at most. */
const MOST_NAMED = 3;

/** A number for ways that no others have. */
const number = (ways) => ways.reduce((sum, way) => sum + 2 ** Object.keys(WAYS).indexOf(way), 0).toString(16);

/** All that a module imports, and what that imports, and so on. Imports that wait until they are needed do not count. */
function reached(begins, modules) {
  const seen = new Set();
  const add = (id) => {
    const info = seen.has(id) ? null : modules.getModuleInfo(id);
    if (info === null) return;
    seen.add(id);
    for (const imported of info.importedIds) add(imported);
  };
  for (const begin of begins) {
    if (modules.getModuleInfo(begin) === null) throw new Error(`${begin} is no module any more: scripts/ways.mjs`);
    add(begin);
  }
  return seen;
}

/**
 * For rolldown's `codeSplitting`.
 * @param source folder of the modules
 */
export function ways(source) {
  let found;
  const name = (id, modules) => {
    if (found === undefined) {
      found = new Map();
      for (const [way, begins] of Object.entries(WAYS)) {
        const all = reached(
          begins.map((begin) => join(source, begin)),
          modules,
        );
        for (const each of all) found.set(each, [...(found.get(each) ?? []), way]);
      }
    }
    const all = found.get(id);
    // What is started or imported by its name keeps its file.
    if (all === undefined || modules.getModuleInfo(id)?.isEntry) return null;
    return all.length > MOST_NAMED ? `shared-${number(all)}` : all.join("-");
  };
  // Whatever a module imports lies on the same ways at least, so that it needs no taking along.
  return { groups: [{ name, debugName: "ways" }], includeDependenciesRecursively: false };
}
