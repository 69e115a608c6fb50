/**
 * A number with what it counts, as people say it: `1 policy`, `2 policies`.
 * @param many of more than one, and of none; default `<one>s`
 */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
