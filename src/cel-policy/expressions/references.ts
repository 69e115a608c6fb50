/** Which variables an expression names. */

/**
 * Whether a text names one of these variables. A name in a string or a field counts too: what is kept apart or looked up for it is kept apart
 * or looked up in vain.
 */
export const refersTo = (text: string, names: readonly string[]): boolean =>
  names.some((name) => text.includes(name) && new RegExp(`\\b${name}\\b`).test(text));
