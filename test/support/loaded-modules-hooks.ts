/** Given to node by `--import`: notes the address of every module that is loaded from then on, one a line, in the file `LOADED_MODULES`. */
import { appendFileSync } from "node:fs";
import { type LoadHook, Module, register } from "node:module";
import { isMainThread } from "node:worker_threads";

const file = process.env.LOADED_MODULES ?? "";

/** Called by node in a thread of its own. */
export const load: LoadHook = (url, context, next) => {
  appendFileSync(file, `${url}\n`);
  return next(url, context);
};

if (isMainThread) {
  register(import.meta.url);
  // Modules that a CommonJS module requires pass no hook.
  const builtIn = Module as unknown as { _extensions: Record<string, (module: NodeJS.Module, path: string) => void> };
  const compile = builtIn._extensions[".js"];
  builtIn._extensions[".js"] = (module, path) => {
    appendFileSync(file, `${path}\n`);
    compile?.(module, path);
  };
}
