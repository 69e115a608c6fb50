/** Names on which the preparation of an Extism module and its run agree. */

/** What the SDK puts before an error that a plugin reported. */
export const PLUGIN_ERROR_PREFIX = "Plugin-originated error: ";

/** The import module of the plugin's environment; having it is what makes a module an Extism plugin. */
export const EXTISM_MODULE = "extism:host/env";

/** Where an Extism guest finds the host capabilities. */
export const HOST_CALL_MODULE = "extism:host/user";
export const HOST_CALL_NAME = "host_call";

/** WASI under a name that the SDK passes on to us. */
export const RENAMED_WASI = "policy-group-gateway:wasi";

/** Start functions under names that the SDK does not call by itself, because WASI needs the instance's memory first. In order. */
export const RENAMED_START: Readonly<Record<string, string>> = {
  _initialize: "policy-group-gateway:initialize",
  _start: "policy-group-gateway:start",
  hs_init: "policy-group-gateway:hs_init",
};
