/** The import modules in which WASI guests find the host's function `call`, spec kubewarden.md 6.4. */
export const HOST_IMPORT_MODULES: ReadonlySet<string> = new Set(["host", "kubewarden:javy/host"]);
