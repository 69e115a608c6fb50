/** Finds the end of an answer: load clients speak just enough HTTP for that, because a general client costs more than the servers measured here. */

const HEAD_END = "\r\n\r\n";

/**
 * Bytes of the answer, head and body, that begins here; `undefined` while its head is not whole.
 * @param path for the message
 * @throws Error when it is not 200, or has no length
 */
export function answerSize(received: Buffer, path: string): number | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const text = received.toString("latin1", 0, headEnd);
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (!text.startsWith("HTTP/1.1 200") || length === undefined)
    throw new Error(`unexpected answer of ${path}: ${received.toString()}`);
  return headEnd + HEAD_END.length + Number(length);
}

/** A review as it is sent over a connection that stays open. */
export function requestOf(path: string, body: Buffer): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
