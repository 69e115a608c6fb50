/** Lines below what they belong to. */
export const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);
