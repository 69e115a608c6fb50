/** Names on which the preparation of a module and its run agree, by protocol. */

/** The import module that rewritten modules have beside those of their protocol. */
export const HOST_MODULE = "policy-group-gateway:host";
/** A module's own memory. */
export const MEMORY_NAME = "memory";
/** The function by which a metered module gets more fuel: () -> i32, see `Budget.refill`. */
export const REFILL_NAME = "refill";

/** Prefix of rewritten modules' exports for their host alone; a module with such a name of its own stays unchanged. */
export const HIDDEN_PREFIX = "policy-group-gateway:";
/** The function of the start section. */
export const START_NAME = `${HIDDEN_PREFIX}start`;
/** The values of the module's mutable globals, in order; floats as the integers with their bits. */
export const GET_GLOBALS_NAME = `${HIDDEN_PREFIX}get-globals`;
/** The function that sets them. */
export const SET_GLOBALS_NAME = `${HIDDEN_PREFIX}set-globals`;
/** The lower half of the marks of regions that the guest may have written to (`write-barriers/marking.ts`), by size of regions: () -> i32. */
export const lowMarksName = (level: number): string => `${HIDDEN_PREFIX}low-marks-${level}`;
/** The upper half, which is read last: reading it resets the marks. */
export const highMarksName = (level: number): string => `${HIDDEN_PREFIX}high-marks-${level}`;

/** The import module of the plugin's environment; having it is what makes a module an Extism plugin. */
export const EXTISM_MODULE = "extism:host/env";

/** Functions of that environment: Extism 1.x. */
export const EXTISM_FUNCTIONS: ReadonlySet<string> = new Set([
  ..."alloc free load_u8 load_u64 store_u8 store_u64 input_offset input_length input_load_u8 input_load_u64 output_set".split(
    " ",
  ),
  ..."error_set error_get config_get var_get var_set http_request http_status_code http_headers length length_unsafe".split(
    " ",
  ),
  ..."log_warn log_info log_debug log_error log_trace get_log_level".split(" "),
]);

/** The operation that only starts a module: without it a module without a settings check would run for the first time with a request. */
export const START_ONLY = "start";

/** The module of a plugin whose exports are called; every other one has another name. */
export const MAIN_MODULE = "main";

/** The import module of host capabilities for Extism guests. */
export const HOST_CALL_MODULE = "extism:host/user";
export const HOST_CALL_NAME = "host_call";

/** Functions of the host for waPC guests in the import module `wapc`, spec kubewarden.md 6.2. */
export const WAPC_IMPORTS: ReadonlySet<string> = new Set([
  "__guest_request",
  "__guest_response",
  "__guest_error",
  "__host_call",
  "__host_response_len",
  "__host_response",
  "__host_error_len",
  "__host_error",
  "__console_log",
]);

/** The import modules with the host's function for WASI guests, `call`, spec kubewarden.md 6.4. */
export const HOST_IMPORT_MODULES: ReadonlySet<string> = new Set(["host", "kubewarden:javy/host"]);

/** Functions of the host for Rego modules in the import module `env`, spec kubewarden.md 6.5. */
export const OPA_IMPORTS: ReadonlySet<string> = new Set([
  "memory",
  "opa_abort",
  "opa_println",
  "opa_builtin0",
  "opa_builtin1",
  "opa_builtin2",
  "opa_builtin3",
  "opa_builtin4",
]);

/** The operation that lists a module's builtins that the host lacks. */
export const MISSING_BUILTINS = "missing-builtins";
