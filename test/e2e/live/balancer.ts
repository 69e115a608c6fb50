/** What a Service does: gives each new connection to a replica that is ready. TLS goes through it. */

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** How often readiness is asked for; kubelets take their time, too. */
const PROBE_MS = 100;

interface Backend {
  readonly port: number;
  ready: boolean;
  readonly sockets: Set<Socket>;
}

/** Listens on loopback. */
export class Balancer {
  readonly #server: Server;
  readonly #backends = new Set<Backend>();
  readonly #sockets = new Set<Socket>();
  #turn = 0;
  #port = 0;

  private constructor() {
    // One side may close before the other, as through a Service: our server, which drains, still reads what was under way.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#pass(socket));
  }

  /** Begins to listen. */
  static async listen(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    const address = balancer.#server.address();
    if (typeof address === "object" && address !== null) balancer.#port = address.port;
    return balancer;
  }

  /** Where webhooks ask. */
  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /**
   * Takes a replica in.
   * @param probes where it says whether it is ready
   * @returns takes it out, and cuts the connections of one that was killed
   */
  add(port: number, probes: string): (killed: boolean) => void {
    const backend: Backend = { port, ready: true, sockets: new Set() };
    this.#backends.add(backend);
    const timer = setInterval(() => {
      fetch(`${probes}/readiness`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ ok }) => {
          backend.ready = ok;
        },
        // On a machine with other work an answer may be late; one that is gone refuses connections, and the next gets them.
        () => {},
      );
    }, PROBE_MS);
    return (killed) => {
      clearInterval(timer);
      this.#backends.delete(backend);
      if (killed) for (const socket of backend.sockets) socket.destroy();
    };
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const ready = [...this.#backends].filter((backend) => backend.ready);
    this.#turn += 1;
    this.#try(
      socket,
      ready.map((_, index) => ready[(this.#turn + index) % ready.length] as Backend),
    );
  }

  /** The first that takes the connection gets it. */
  #try(socket: Socket, [to, ...others]: readonly Backend[]): void {
    if (to === undefined) {
      socket.destroy();
      return;
    }
    const backend = connect({ port: to.port, host: "127.0.0.1", allowHalfOpen: true });
    const next = () => this.#try(socket, others);
    backend.once("error", next);
    backend.once("connect", () => {
      backend.off("error", next);
      to.sockets.add(socket);
      socket.on("close", () => to.sockets.delete(socket));
      backend.on("error", () => socket.destroy());
      backend.on("close", () => socket.destroy());
      socket.on("close", () => backend.destroy());
      socket.pipe(backend);
      backend.pipe(socket);
    });
  }
}
