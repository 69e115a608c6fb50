/** What the host serves to Rego modules in the import module `env`, spec kubewarden.md 6.5. */
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

/** The operation that asks a module, instead of a review, for the builtins that it needs and the host lacks. */
export const MISSING_BUILTINS = "missing-builtins";
