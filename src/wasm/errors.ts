/** Reasons why a module can't serve as a policy. The texts follow spec kubewarden.md 1.4 where it has one. */

/** Codes of the reasons, each with a row in docs/errors.md. */
export type WasmLoadErrorCode =
  | "wasm-invalid"
  | "wasm-memory"
  | "wasm-meter"
  | "wasm-metadata"
  | "wasm-version"
  | "wasm-protocol"
  | "wasm-mode"
  | "wasm-imports"
  | "wasm-exports"
  | "wasm-start"
  | "wasm-builtins"
  | "wasm-plugin"
  | "wasm-settings"
  | "wasm-capability-pattern";

/** A module was refused at load; the message is for the administrator. */
export class WasmLoadError extends Error {
  override readonly name = "WasmLoadError";

  constructor(
    readonly code: WasmLoadErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** For answers too (`data/public-text`): it is about the module, in our words or the module's own. */
  get shown(): string {
    return this.message;
  }
}
