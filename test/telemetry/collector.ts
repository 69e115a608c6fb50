import http2 from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A collector on loopback that speaks enough gRPC to take everything and keep it. */
export interface Collector {
  readonly received: readonly { readonly path: string; readonly body: Buffer }[];
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly answers: boolean;
  close(): void;
}

/** @param answers false: it takes everything and never answers */
export async function startCollector(answers = true): Promise<Collector> {
  const received: { path: string; body: Buffer }[] = [];
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      received.push({ path: String(headers[":path"]), body: Buffer.concat(chunks) });
      if (!answers) return;
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      // An empty message: not compressed, of no bytes.
      stream.end(Buffer.alloc(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  const close = (): void => {
    server.close();
    for (const session of sessions) session.destroy();
  };
  return { received, answers, endpoint: `http://127.0.0.1:${port}`, close };
}

/** A collector that accepts connections and says nothing, not even that it speaks HTTP/2. */
export async function startMuteCollector(): Promise<Collector> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { received: [], answers: false, endpoint: `http://127.0.0.1:${port}`, close };
}

/** Runs with the collector's address where exporters look for it. */
export async function withEndpoint<T>(endpoint: string, run: () => Promise<T>): Promise<T> {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
  try {
    return await run();
  } finally {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  }
}
