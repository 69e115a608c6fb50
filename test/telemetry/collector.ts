import http2 from "node:http2";
import type { AddressInfo } from "node:net";

/** A collector on loopback that speaks enough gRPC to take everything and keep it. */
export interface Collector {
  readonly received: readonly { readonly path: string; readonly body: Buffer }[];
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  close(): void;
}

export async function startCollector(): Promise<Collector> {
  const received: { path: string; body: Buffer }[] = [];
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      received.push({ path: String(headers[":path"]), body: Buffer.concat(chunks) });
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      // An empty message: not compressed, of no bytes.
      stream.end(Buffer.alloc(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { received, endpoint: `http://127.0.0.1:${port}`, close: () => void server.close() };
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
