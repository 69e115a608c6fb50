/** What a guest gets where there is nothing to say. */
export const NOTHING: Uint8Array = new Uint8Array();

/** The parts as one piece of memory that is nobody else's: what is posted to a thread is copied with all the memory it lies in. */
export function payload(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The same of a text, in UTF-8: short ones made by `Buffer.from` lie in eight KiB that they share with others. */
export const textPayload = (text: string): Uint8Array => payload([Buffer.from(text)]);
