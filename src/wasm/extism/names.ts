/** Names on which the preparation of an Extism module and its run agree. */

/** The import module of the plugin's environment; having it is what makes a module an Extism plugin. */
export const EXTISM_MODULE = "extism:host/env";

/** What the environment offers: Extism 1.x. */
export const EXTISM_FUNCTIONS: ReadonlySet<string> = new Set([
  ..."alloc free load_u8 load_u64 store_u8 store_u64 input_offset input_length input_load_u8 input_load_u64 output_set".split(
    " ",
  ),
  ..."error_set error_get config_get var_get var_set http_request http_status_code http_headers length length_unsafe".split(
    " ",
  ),
  ..."log_warn log_info log_debug log_error log_trace get_log_level".split(" "),
]);

/** The operation that only starts a module: one that has no settings check would else run for the first time when it is asked. */
export const START_ONLY = "start";

/** The module of a plugin whose exports are called; every other one has another name. */
export const MAIN_MODULE = "main";

/** Where an Extism guest finds the host capabilities. */
export const HOST_CALL_MODULE = "extism:host/user";
export const HOST_CALL_NAME = "host_call";
