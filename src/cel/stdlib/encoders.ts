/** The encoders extension, outside Kubernetes only (spec kubernetes-cel.md 4.14). */
import type { Library } from "../declarations.js";
import { fn, overload } from "../declare.js";
import { BYTES, STRING } from "../types.js";

/** `base64.encode` and `base64.decode`. */
export const encodersLibrary: Library = {
  name: "encoders",
  functions: [
    fn("base64.decode", overload("base64_decode_string", [STRING], BYTES)),
    fn("base64.encode", overload("base64_encode_bytes", [BYTES], STRING)),
  ],
};
