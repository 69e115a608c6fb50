/** Indents lines. */
export const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
