/** Go's types, as far as reading and printing JSON depends on them. */

/** A type. `go` is its name in Go's messages: `[]v1.Container`. */
export type GoType = GoScalar | GoInteger | GoSpecial | GoList | GoMap | GoPointer | GoStruct;

/** A text (enumerations are texts), a truth value, or octets, which are base64 in JSON. */
export interface GoScalar {
  readonly kind: "string" | "bool" | "bytes";
  readonly go: string;
}

/** A signed integer. */
export interface GoInteger {
  readonly kind: "integer";
  readonly go: string;
  readonly bits: number;
}

/** Types that read and print themselves. */
export const SPECIAL = ["Time", "MicroTime", "Quantity", "IntOrString", "RawExtension", "FieldsV1"] as const;

/** A struct that reads and prints itself: none of them is ever empty. */
export interface GoSpecial {
  readonly kind: (typeof SPECIAL)[number];
  readonly go: string;
}

export interface GoList {
  readonly kind: "list";
  readonly go: string;
  readonly element: GoType;
}

/** A map whose keys are texts. */
export interface GoMap {
  readonly kind: "map";
  readonly go: string;
  readonly element: GoType;
}

/** A pointer; `go` is the name of its target's type, which is all that messages print. */
export interface GoPointer {
  readonly kind: "pointer";
  readonly go: string;
  readonly element: GoType;
}

/** A struct with its members by name, in the order in which Go prints them. */
export interface GoStruct {
  readonly kind: "struct";
  readonly go: string;
  readonly members: ReadonlyMap<string, GoMember>;
}

/** A member of a struct, or of a struct that it embeds. */
export interface GoMember {
  readonly name: string;
  /** The name in Go's messages: with the embedded structs before it, as in `VolumeSource.emptyDir`. */
  readonly place: string;
  readonly type: GoType;
  /** Whether it is not printed when it is empty. */
  readonly omitEmpty: boolean;
  /** Whether it is not printed when it is zero; only times have that. */
  readonly omitZero: boolean;
}
