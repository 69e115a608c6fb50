/** An object that is still being put together, of a type whose members are not to be written to. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
