/** The flags between `%` and the verb, in the form of Go's fmt. */
export interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v` and `%#v`: they replace `plus` and `sharp`. */
  plusV: boolean;
  sharpV: boolean;
  width: number | undefined;
  precision: number | undefined;
}

/** No flags. */
export function noFlags(): Flags {
  return {
    minus: false,
    plus: false,
    sharp: false,
    space: false,
    zero: false,
    plusV: false,
    sharpV: false,
    width: undefined,
    precision: undefined,
  };
}

/** Pads to the width, characters counted; zeros only to the left. */
export function pad(text: string, { width = 0, minus, zero }: Flags): string {
  const missing = width - lengthOf(text);
  if (missing <= 0) return text;
  return minus ? text + " ".repeat(missing) : (zero ? "0" : " ").repeat(missing) + text;
}

/** {@link pad} with blanks. */
export function padBlank(text: string, flags: Flags): string {
  return pad(text, { ...flags, zero: false });
}

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
