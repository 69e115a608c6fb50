/** A port that nobody listens on. */
import { createServer } from "node:net";

/** Ports that are tried, one after the other. */
const TRIED = 20;

/** The first free one from `first` on; 0, which is any, when many of them are taken. Who is quick may take it before it is used. */
export async function freePort(address: string, first: number): Promise<number> {
  for (let port = first; port < first + TRIED; port++) if (await isFree(address, port)) return port;
  return 0;
}

function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
