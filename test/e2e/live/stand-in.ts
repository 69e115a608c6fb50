/**
 * What stands in our server's place where scenes are played without it (`npm run e2e -- --without-server`): ready at once, allows everything, changes, writes and
 * reports nothing. It takes our server's arguments and leaves most of them alone.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";

const argument = (name: string): string | undefined => {
  // The last one counts, as with ours.
  const at = process.argv.lastIndexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  let text = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => {
    const { apiVersion, kind, request: asked } = JSON.parse(text || "{}") as { [field: string]: { uid?: string } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked?.uid, allowed: true } }));
  });
}

const [cert, key] = [argument("--cert-file"), argument("--key-file")];
const server =
  cert === undefined || key === undefined
    ? createServer(answer)
    : createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }, answer);
server.listen(Number(argument("--port")), "127.0.0.1");
createServer((_, response) => response.end()).listen(Number(argument("--readiness-probe-port")), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
