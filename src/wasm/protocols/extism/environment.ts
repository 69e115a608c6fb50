/** The environment of an Extism plugin beside its input: its configuration, and the limits of its log lines and variables. */
import { parseJson, stringifyJson } from "../../../data/json.js";

/** Levels of log lines by their number in Extism's interface; `silent` is above all of them. */
export const LOG_LEVELS = { trace: 0, debug: 1, info: 2, warn: 3, error: 4, silent: 0x7fff_ffff } as const;
export type PluginLogLevel = keyof typeof LOG_LEVELS;

/** The environment of a plugin, the same for every call of a policy. */
export interface PluginEnvironment {
  /** Values of `config_get`. */
  readonly config: Readonly<Record<string, string>>;
  /** Log lines below this level are dropped. */
  readonly logLevel: PluginLogLevel;
  /** Most bytes of all variables; 0: there are none. */
  readonly varBytes: number;
}

/** Most bytes of variables by default, as in Extism; they need no more room than a request. */
export const VARIABLE_BYTES = 1024 * 1024;

/** Most bytes of variables that a manifest may ask for: they take the host's memory, beside the plugin's own. */
export const MAX_VARIABLE_BYTES = 64 * 1024 * 1024;

/** The default: the log itself decides about written lines. */
export const NO_ENVIRONMENT: PluginEnvironment = { config: {}, logLevel: "trace", varBytes: VARIABLE_BYTES };

/** Prints an environment for the guest's thread. */
export const printEnvironment = (environment: PluginEnvironment): string =>
  stringifyJson({ ...environment, config: { ...environment.config } });

/** Parses texts of {@link printEnvironment}; calls of one policy often follow each other. */
export class EnvironmentReader {
  #bytes = new Uint8Array();
  #environment = NO_ENVIRONMENT;

  /** @param bytes UTF-8; they are only valid during the call */
  read(bytes: Uint8Array | undefined): PluginEnvironment {
    if (bytes === undefined || bytes.length === 0) return NO_ENVIRONMENT;
    if (Buffer.compare(bytes, this.#bytes) !== 0) {
      this.#environment = parseJson(new TextDecoder().decode(bytes)) as PluginEnvironment;
      this.#bytes = bytes.slice();
    }
    return this.#environment;
  }
}
