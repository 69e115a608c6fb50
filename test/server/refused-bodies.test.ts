import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { immediate, serve } from "./fake-policy.js";

/** More than any socket keeps in its buffers, less than the server goes on reading of a refused body. */
const BODY_BYTES = 12 * 1024 * 1024;

test("a refused body is read and thrown away, so that a client that still writes gets to see the answer", async () => {
  const server = await serve([immediate("p", () => ({ verdict: "allow" }))], { bodyLimit: 1000 });
  const socket = net.connect(server.port, "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
  });
  const head = `POST /validate/p HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;
  // Called when everything has left this process; with an error when the connection is cut before.
  const written = new Promise<Error | null | undefined>((resolve) => {
    socket.on("error", resolve);
    socket.write(head);
    socket.write(Buffer.alloc(BODY_BYTES, 32), resolve);
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  assert.equal((await written) ?? undefined, undefined);
  await closed;
  assert.match(received, /^HTTP\/1\.1 413 /);
  await server.stop({ delay: 0, grace: 0 });
});
