/** An object under construction, of a type with read-only members. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
