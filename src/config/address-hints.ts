/** Hints for the address of a module that could not be fetched, or does not lead to a module. */
import type { ModuleEntry } from "./entry.js";
import { addressPath, type ModuleAddress } from "./module-address.js";
import { nearFileHint } from "./near-files.js";

/** Frequent wrong forms of addresses; the first that matches counts. */
const HINTS: readonly (readonly [pattern: RegExp, hint: (found: RegExpExecArray) => string])[] = [
  [/\.ya?ml$/i, () => "this names a YAML file: `resource:` names those, `module:` a WASM module"],
  [/^[A-Za-z]:[\\/]|\\/, () => "write paths with /, and from the folder of this file: ./policies/name.wasm"],
  [/^(https?|registry):\/?(?!\/)/i, ([, scheme]) => `two slashes follow the scheme: ${scheme}://`],
  [/^file:(\/?(?!\/)[^:]*)$/i, ([, path]) => `write file://${path}, or the path alone: ${path}`],
  [
    /^(?!\w+:\/\/)([^/]+\.[^/]+\/.*\.wasm)$/i,
    ([, address]) =>
      `without a scheme this names an artifact of a registry; to download a file write https://${address}`,
  ],
  [/^~\//, () => "~ is not replaced: write the whole path, or one from the folder of this file"],
  [/\$\{?\w+/, () => "variables are not replaced in addresses: write the address itself"],
];

/** The key of an entry's module: `url` is another name. */
export function moduleKey({ origin: { document, path } }: Pick<ModuleEntry, "origin">): "module" | "url" {
  return !document.hasKey([...path, "module"]) && document.hasKey([...path, "url"]) ? "url" : "module";
}

/** A hint; undefined when none is likely. */
export function addressHint(address: ModuleAddress): string | undefined {
  for (const [pattern, hint] of HINTS) {
    const found = pattern.exec(address.text);
    if (found !== null) return hint(found);
  }
  return undefined;
}

/** The same as {@link addressHint} for a file that does not exist. */
export function missingFileHint(address: ModuleAddress): string | undefined {
  if (address.kind !== "file") return addressHint(address);
  return addressHint(address) ?? nearFileHint(addressPath(address));
}
