/** Modules written in the test that needs them. */
import binaryen from "binaryen";

/** The bytes of a module in the text format. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const parsed = binaryen.parseText(text);
  try {
    parsed.setFeatures(binaryen.Features.All);
    return new Uint8Array(parsed.emitBinary());
  } finally {
    parsed.dispose();
  }
}
