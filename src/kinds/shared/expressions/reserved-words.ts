/** Words of CEL that cannot be names of variables (spec validating-admission-policy.md 1.1). */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
