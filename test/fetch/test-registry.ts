/** A small OCI registry on loopback, over HTTP or TLS, with or without log-in. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Certificate } from "./certificates.js";

/** `sha256:<hex>`. */
export function sha256(bytes: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** What the registry wants before it answers. */
export type Login = "none" | "basic" | "bearer";

/** How to start it. */
export interface RegistryOptions {
  readonly certificate?: Certificate;
  readonly login?: Login;
  /** Artifacts that refer to others stand under a tag, as before version 1.1 of the specification. */
  readonly withoutReferrers?: boolean;
  /** `user:password`; others get 401. */
  readonly user?: string;
}

/** A registry that is gone after the test. */
export class TestRegistry {
  /** `METHOD path` of every request, in order. */
  readonly requests: string[] = [];
  /** Blobs by digest. */
  readonly blobs = new Map<string, Buffer>();
  /** Manifests by `<repository>:<tag>` and `<repository>@<digest>`. */
  readonly manifests = new Map<string, Buffer>();
  /** What refers to an artifact, by `<repository>@<digest>`. */
  readonly referrers = new Map<string, object[]>();
  /** Answers in the place of the registry, by path. */
  readonly special = new Map<string, RequestListener>();
  tokensGiven = 0;

  private constructor(
    readonly host: string,
    readonly options: RegistryOptions,
  ) {}

  static async start(context: TestContext, options: RegistryOptions = {}): Promise<TestRegistry> {
    let registry: TestRegistry;
    const listener: RequestListener = (request, response) => registry.#answer(request, response);
    const { certificate } = options;
    const server =
      certificate === undefined
        ? createServer(listener)
        : createTlsServer({ cert: certificate.pem, key: certificate.keyPem }, listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    context.after(() => {
      server.closeAllConnections();
      server.close();
    });
    registry = new TestRegistry(`localhost:${(server.address() as AddressInfo).port}`, options);
    return registry;
  }

  /**
   * Puts an artifact there and answers the digest of its manifest.
   * @param more further members of the manifest
   */
  push(
    repository: string,
    tag: string,
    layers: readonly { mediaType: string; bytes: Buffer; annotations?: Record<string, string> }[],
    more: object = {},
  ): string {
    const config = Buffer.from("{}");
    this.blobs.set(sha256(config), config);
    const describe = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: sha256(bytes), size: bytes.length });
    for (const { bytes } of layers) this.blobs.set(sha256(bytes), bytes);
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        config: describe("application/vnd.wasm.config.v1+json", config),
        layers: layers.map(({ mediaType, bytes, annotations }) => ({
          ...describe(mediaType, bytes),
          ...(annotations && { annotations }),
        })),
        ...more,
      }),
    );
    this.manifests.set(`${repository}:${tag}`, manifest);
    this.manifests.set(`${repository}@${sha256(manifest)}`, manifest);
    return sha256(manifest);
  }

  /** Puts an artifact there that refers to another one, as `oras attach` and cosign 3 do. */
  refer(
    repository: string,
    subject: string,
    artifactType: string,
    bytes: Buffer,
    annotations?: Record<string, string>,
  ): string {
    const type = { mediaType: artifactType, bytes };
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const about = { artifactType, subject: { mediaType, digest: subject, size: 1 } };
    const digest = this.push(repository, `refers-${this.manifests.size}`, [type], about);
    const size = this.manifests.get(`${repository}@${digest}`)!.length;
    const list = this.referrers.get(`${repository}@${subject}`) ?? [];
    list.push({ mediaType, digest, size, artifactType, ...(annotations && { annotations }) });
    this.referrers.set(`${repository}@${subject}`, list);
    if (this.options.withoutReferrers !== true) return digest;
    const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: list };
    this.manifests.set(`${repository}:${subject.replace(":", "-")}`, Buffer.from(JSON.stringify(index)));
    return digest;
  }

  /** Takes what an image layout holds, as `<repository>@<digest>`; answers the digests of its named images. */
  load(repository: string, layout: string): ReadonlyMap<string, string> {
    type Entry = { digest: string; artifactType?: string; annotations?: Record<string, string> };
    const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as { manifests: Entry[] };
    for (const name of readdirSync(join(layout, "blobs/sha256"))) {
      this.blobs.set(`sha256:${name}`, readFileSync(join(layout, "blobs/sha256", name)));
    }
    const named = new Map<string, string>();
    for (const entry of manifests) {
      const bytes = this.blobs.get(entry.digest)!;
      this.manifests.set(`${repository}@${entry.digest}`, bytes);
      const { subject } = JSON.parse(bytes.toString()) as { subject?: { digest: string } };
      const name = entry.annotations?.["org.opencontainers.image.ref.name"];
      if (name !== undefined) named.set(name, entry.digest);
      if (subject === undefined) continue;
      const key = `${repository}@${subject.digest}`;
      this.referrers.set(key, [...(this.referrers.get(key) ?? []), entry]);
    }
    return named;
  }

  /** A module under a name. */
  pushModule(repository: string, tag: string, bytes: Buffer): string {
    return this.push(repository, tag, [{ mediaType: "application/vnd.wasm.content.layer.v1+wasm", bytes }]);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", `http://${this.host}`);
    this.requests.push(`${request.method} ${url.pathname}`);
    const special = this.special.get(url.pathname);
    if (special !== undefined) special(request, response);
    else if (url.pathname === "/token") this.#giveToken(request, response, url);
    else this.#answerRegistry(request, response, url.pathname);
  }

  #answerRegistry(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (!this.#mayPass(request)) {
      const scheme = this.options.certificate === undefined ? "http" : "https";
      const challenge =
        this.options.login === "basic"
          ? 'Basic realm="test"'
          : `Bearer realm="${scheme}://${this.host}/token",service="test",scope="repository:x:pull"`;
      response.writeHead(401, { "www-authenticate": challenge }).end("{}");
      return;
    }
    if (request.method === "POST" || request.method === "PUT") {
      this.#take(request, response, path);
      return;
    }
    const [, referred, subject] = /^\/v2\/(.+)\/referrers\/([^/]+)$/.exec(path) ?? [];
    if (subject !== undefined && this.options.withoutReferrers !== true) {
      const manifests = this.referrers.get(`${referred}@${subject}`) ?? [];
      response.writeHead(200, { "content-type": "application/vnd.oci.image.index.v1+json" });
      response.end(JSON.stringify({ schemaVersion: 2, manifests }));
      return;
    }
    const match = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path);
    const [, repository = "", kind, name = ""] = match ?? [];
    const bytes =
      kind === "blobs"
        ? this.blobs.get(name)
        : this.manifests.get(name.startsWith("sha256:") ? `${repository}@${name}` : `${repository}:${name}`);
    if (bytes === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ errors: [{ code: "MANIFEST_UNKNOWN", message: "manifest unknown" }] }));
      return;
    }
    response.writeHead(200, { "content-type": "application/octet-stream" });
    response.end(request.method === "HEAD" ? undefined : bytes);
  }

  /** Uploads: a blob is announced, then sent in one piece; a manifest names blobs that are there. */
  #take(request: IncomingMessage, response: ServerResponse, path: string): void {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const bytes = Buffer.concat(parts);
      const [, repository = "", rest = ""] = /^\/v2\/(.+?)\/((?:blobs|manifests)\/.*)$/.exec(path) ?? [];
      const refuse = (status: number, code: string) =>
        response.writeHead(status).end(JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] }));
      if (request.method === "POST" && rest === "blobs/uploads/") {
        response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/1?state=kept` }).end();
      } else if (rest.startsWith("blobs/uploads/")) {
        const { searchParams } = new URL(request.url ?? "/", "http://registry");
        const digest = sha256(bytes);
        if (searchParams.get("digest") !== digest || searchParams.get("state") !== "kept")
          refuse(400, "DIGEST_INVALID");
        else {
          this.blobs.set(digest, bytes);
          response.writeHead(201).end();
        }
      } else {
        const { config, layers } = JSON.parse(bytes.toString()) as {
          config: { digest: string };
          layers: { digest: string }[];
        };
        if (![config, ...layers].every(({ digest }) => this.blobs.has(digest))) refuse(400, "MANIFEST_BLOB_UNKNOWN");
        else {
          this.manifests.set(`${repository}:${rest.slice("manifests/".length)}`, bytes);
          this.manifests.set(`${repository}@${sha256(bytes)}`, bytes);
          response.writeHead(201, { "docker-content-digest": sha256(bytes) }).end();
        }
      }
    });
  }

  #giveToken(request: IncomingMessage, response: ServerResponse, url: URL): void {
    if (!this.#knows(request) || url.searchParams.get("service") !== "test" || !url.searchParams.has("scope")) {
      response.writeHead(401).end("{}");
      return;
    }
    this.tokensGiven++;
    response.writeHead(200).end(JSON.stringify({ token: "secret", expires_in: 300 }));
  }

  #mayPass(request: IncomingMessage): boolean {
    const { login = "none" } = this.options;
    if (login === "none") return true;
    return login === "basic" ? this.#knows(request) : request.headers.authorization === "Bearer secret";
  }

  #knows(request: IncomingMessage): boolean {
    const { user } = this.options;
    return user === undefined || request.headers.authorization === `Basic ${Buffer.from(user).toString("base64")}`;
  }
}
