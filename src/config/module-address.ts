/** The address of a policy's WASM file (spec kubewarden.md 1.6): a file, an HTTP address, or an artifact in an OCI registry. */
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A module's address. `location` identifies the module: equal locations are the same module and are fetched once. */
export interface ModuleAddress {
  readonly kind: "file" | "http" | "registry";
  /** The text in the configuration, for messages. */
  readonly text: string;
  /** `file:///absolute/path`, `http(s)://…` or `registry://…`. */
  readonly location: string;
}

/**
 * Reads an address. Without a scheme it is a path when it starts with `/`, `./` or `../`, or ends in `.wasm` (of an Extism manifest `.json` or `.toml`) and its first part doesn't
 * look like a host (no dot, no port, not `localhost`); otherwise it is an OCI reference.
 * @param holder the file that contains the address: relative paths start at its folder
 */
export function parseModuleAddress(text: string, holder: string): ModuleAddress | { readonly mistake: string } {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text);
  if (scheme === null) {
    if (looksLikePath(text)) return fileAddress(text, text, holder);
    return { kind: "registry", text, location: `registry://${text}` };
  }
  const rest = text.slice(scheme[0].length);
  if (rest === "") return { mistake: `nothing follows ${scheme[0]}` };
  switch (scheme[1]) {
    case "file":
      return fileAddress(text, decodedPath(rest), holder);
    case "http":
    case "https":
      return URL.canParse(text) ? { kind: "http", text, location: text } : { mistake: `not a URL: ${text}` };
    case "registry":
      return { kind: "registry", text, location: text };
    default:
      return { mistake: `unknown scheme: ${scheme[1]} (known are file, http, https and registry)` };
  }
}

/** The path of a `file` address. */
export function addressPath(address: ModuleAddress): string {
  return fileURLToPath(address.location);
}

function fileAddress(text: string, path: string, holder: string): ModuleAddress {
  return { kind: "file", text, location: pathToFileURL(resolve(dirname(holder), path)).href };
}

function looksLikePath(text: string): boolean {
  if (/^\.{0,2}\//.test(text)) return true;
  if (!/\.(?:wasm|json|toml)$/.test(text)) return false;
  const slash = text.indexOf("/");
  return slash === -1 || !/[.:]|^localhost$/.test(text.slice(0, slash));
}

/** A path with its escapes such as `%20` decoded; a path with a bare `%` is kept as it is. */
function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
