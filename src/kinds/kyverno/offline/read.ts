/** The result of reading offline data: a value, or the error, in Kyverno's words where it has some. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export const failed = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error });
export const read = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
