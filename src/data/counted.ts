/**
 * A number with its noun in words: `1 policy`, `2 policies`.
 * @param many the plural, also for zero; default `<one>s`
 */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
