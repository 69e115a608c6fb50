/** Digests of texts (spec kyverno.md 4.6): lower-case hexadecimal of the UTF-8 octets. */
import { createHash } from "node:crypto";
import { type FunctionDeclaration, STRING } from "../../../cel/index.js";
import { functions, growing } from "./declare.js";

/** `md5`, `sha1` and `sha256`, also with `hash.` before them. A text of a whole request takes some 20 ms. */
export const HASH_FUNCTIONS: readonly FunctionDeclaration[] = ["md5", "sha1", "sha256"].flatMap((algorithm) =>
  functions(
    [algorithm, `hash.${algorithm}`],
    `${algorithm}_string`,
    [STRING],
    STRING,
    (text: string) => createHash(algorithm).update(text).digest("hex"),
    growing(5),
  ),
);
