/** What the host serves to waPC guests in the import module `wapc`, spec kubewarden.md 6.2. */
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
