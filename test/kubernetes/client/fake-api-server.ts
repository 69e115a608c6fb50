/** A small API server on loopback, over TLS: discovery, get, list with pages, watch, access reviews, create, status apply. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { type Certificate, newCertificate } from "../../fetch/certificates.js";

/** Any object of a cluster. */
export interface TestObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

interface Watch {
  readonly plural: string;
  readonly wanted: (object: TestObject) => boolean;
  readonly response: ServerResponse;
}

const RESOURCES: Readonly<Record<string, readonly { name: string; kind: string; namespaced: boolean }[]>> = {
  "/api/v1": [
    { name: "pods", kind: "Pod", namespaced: true },
    { name: "pods/status", kind: "Pod", namespaced: true },
    { name: "configmaps", kind: "ConfigMap", namespaced: true },
    { name: "namespaces", kind: "Namespace", namespaced: false },
    { name: "events", kind: "Event", namespaced: true },
  ],
  "/apis/events.k8s.io/v1": [{ name: "events", kind: "Event", namespaced: true }],
  "/apis/cert-manager.io/v1": [{ name: "certificaterequests", kind: "CertificateRequest", namespaced: true }],
  "/apis/rbac.authorization.k8s.io/v1": [
    { name: "roles", kind: "Role", namespaced: true },
    { name: "rolebindings", kind: "RoleBinding", namespaced: true },
    { name: "clusterroles", kind: "ClusterRole", namespaced: false },
    { name: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false },
  ],
  "/apis/acme.example/v1": [{ name: "limits", kind: "Limit", namespaced: false }],
  "/apis/acme.example/v2": [{ name: "limits", kind: "Limit", namespaced: false }],
};

/** A cluster that is gone after the test. */
export class FakeApiServer {
  readonly authority: Certificate = newCertificate({ name: "cluster authority", authority: true });
  /** `METHOD path?query` of every request, in order. */
  readonly requests: string[] = [];
  /** Accepted tokens; none: anybody may. */
  readonly tokens = new Set<string>();
  /** Headers of the last request. */
  headers: IncomingMessage["headers"] = {};
  /** Name in the client certificate of the last request. */
  client: string | undefined;
  /** Answers in the place of the server, by path without query. */
  readonly special = new Map<string, RequestListener>();
  /** Patches that came, in order. */
  readonly patches: { readonly query: string; readonly type: string; readonly body: TestObject }[] = [];
  /** What access reviews are answered with, by user. */
  readonly access = new Map<string, unknown>();
  /** Specs of the access reviews that were asked. */
  readonly reviews: unknown[] = [];
  /** Called before something is written; what it answers itself is not written. */
  beforeWrite: (request: IncomingMessage, response: ServerResponse) => void | Promise<void> = () => {};
  /** Watches are not told of what is written by requests, as if they were slow. */
  slow = false;
  /** Watches from older versions get 410. */
  oldest = 0;
  readonly #objects = new Map<string, Map<string, TestObject>>();
  readonly #watches = new Set<Watch>();
  readonly #folder = mkdtempSync(join(tmpdir(), "cluster-"));
  #version = 100;
  #port = 0;

  /** @param context says when the test is over */
  static async start(context: { after(end: () => void): void }): Promise<FakeApiServer> {
    const fake = new FakeApiServer();
    const certificate = newCertificate({ name: "api server", issuer: fake.authority, hosts: ["127.0.0.1"] });
    const server = createServer(
      {
        cert: certificate.pem,
        key: certificate.keyPem,
        ca: fake.authority.pem,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => void fake.#answer(request, response),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    fake.#port = (server.address() as AddressInfo).port;
    context.after(() => {
      server.closeAllConnections();
      server.close();
      rmSync(fake.#folder, { recursive: true, force: true });
    });
    return fake;
  }

  get port(): number {
    return this.#port;
  }

  /** How many watches are open. */
  get watching(): number {
    return this.#watches.size;
  }

  /** Paths of the requests that have this start. */
  asked(start: string): string[] {
    return this.requests.filter((request) => request.startsWith(start));
  }

  /** A file beside the server's others. */
  file(name: string, content: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** A kubeconfig for this server. `user` and `cluster` are added to its entries, as JSON. */
  kubeconfig(user: object = {}, cluster: object = {}): string {
    const ca = Buffer.from(this.authority.pem).toString("base64");
    const server = `https://127.0.0.1:${this.port}`;
    return this.file(
      "kubeconfig",
      JSON.stringify({
        "current-context": "test",
        clusters: [{ name: "c", cluster: { server, "certificate-authority-data": ca, ...cluster } }],
        users: [{ name: "u", user }],
        contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
      }),
    );
  }

  /** Adds or changes an object; watches hear of it. */
  put(plural: string, object: TestObject): void {
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const objects = this.#all(plural);
    const type = objects.has(key) ? "MODIFIED" : "ADDED";
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    objects.set(key, stored);
    this.#tell(plural, type, stored);
  }

  /** An object as it is stored. */
  object(plural: string, name: string, namespace = ""): TestObject | undefined {
    return this.#all(plural).get(`${namespace}/${name}`);
  }

  /** All objects of a resource. */
  objects(plural: string): TestObject[] {
    return [...this.#all(plural).values()];
  }

  /** Removes an object. */
  remove(plural: string, name: string, namespace = ""): void {
    const objects = this.#all(plural);
    const key = `${namespace}/${name}`;
    const object = objects.get(key);
    objects.delete(key);
    if (object !== undefined) this.#tell(plural, "DELETED", object, String(++this.#version));
  }

  /** Changes an object without telling watches: what a lost connection is like. */
  putUnseen(plural: string, object: TestObject): void {
    const watches = [...this.#watches];
    this.#watches.clear();
    this.put(plural, object);
    for (const watch of watches) this.#watches.add(watch);
  }

  /** Sends an event to all watches of a resource. */
  send(plural: string, event: unknown): void {
    for (const watch of this.#watches) if (watch.plural === plural) watch.response.write(`${JSON.stringify(event)}\n`);
  }

  /** Cuts all watches off, orderly or not. */
  cut(orderly = false): void {
    for (const { response } of this.#watches) orderly ? response.end() : response.destroy();
  }

  #all(plural: string): Map<string, TestObject> {
    const known = this.#objects.get(plural) ?? new Map<string, TestObject>();
    this.#objects.set(plural, known);
    return known;
  }

  #tell(plural: string, type: string, object: TestObject, resourceVersion?: string): void {
    const shown =
      resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } };
    for (const watch of this.#watches) {
      if (watch.plural !== plural || !watch.wanted(object)) continue;
      watch.response.write(`${JSON.stringify({ type, object: shown })}\n`);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "https://server");
    this.requests.push(`${request.method} ${decodeURIComponent(request.url ?? "")}`);
    this.headers = request.headers;
    this.client = String((request.socket as TLSSocket).getPeerCertificate().subject?.CN);
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (this.tokens.size > 0 && !this.tokens.has(token))
      return void status(response, 401, "Unauthorized", "Unauthorized");
    const special = this.special.get(url.pathname);
    if (special !== undefined) return void special(request, response);
    if (url.pathname === "/apis/authorization.k8s.io/v1/subjectaccessreviews") {
      const { spec } = JSON.parse(await text(request)) as { spec: { user: string } };
      this.reviews.push(spec);
      return void json(response, 201, { kind: "SubjectAccessReview", spec, status: this.access.get(spec.user) });
    }
    const resources = RESOURCES[url.pathname];
    if (resources !== undefined) return void json(response, 200, { kind: "APIResourceList", resources });
    const versions = Object.keys(RESOURCES).filter((path) => path.startsWith(`${url.pathname}/`));
    if (url.pathname.startsWith("/apis/") && versions.length > 0) {
      const list = versions.map((path) => ({ groupVersion: path.slice(6), version: path.split("/")[3] }));
      return void json(response, 200, { kind: "APIGroup", versions: list });
    }
    const root = Object.keys(RESOURCES).find((path) => url.pathname.startsWith(`${path}/`));
    if (root === undefined)
      return void status(response, 404, "NotFound", "the server could not find the requested resource");
    let parts = url.pathname
      .slice(root.length + 1)
      .split("/")
      .map(decodeURIComponent);
    let namespace = "";
    if (parts[0] === "namespaces" && parts.length > 2) [, namespace = "", ...parts] = parts;
    const [plural = "", name] = parts;
    if (request.method === "GET") return this.#objectsAt(url, namespace, plural, name, response);
    const body = JSON.parse(await text(request)) as TestObject;
    await this.beforeWrite(request, response);
    if (response.writableEnded) return;
    if (request.method === "POST") this.#create(plural, body, response);
    else this.#applyStatus(url, request, plural, name ?? "", body, response);
  }

  #create(plural: string, object: TestObject, response: ServerResponse): void {
    const { name, namespace = "" } = object.metadata;
    const known = this.#all(plural).has(`${namespace}/${name}`);
    if (known) return void status(response, 409, "AlreadyExists", `${plural} "${name}" already exists`);
    this.put(plural, object);
    json(response, 201, object);
  }

  /** Server-side apply of conditions, as a real server does it with `force`. */
  #applyStatus(
    url: URL,
    request: IncomingMessage,
    plural: string,
    name: string,
    patch: TestObject,
    response: ServerResponse,
  ): void {
    this.patches.push({ query: url.search, type: request.headers["content-type"] ?? "", body: patch });
    const { namespace = "", resourceVersion } = patch.metadata;
    const object = this.#all(plural).get(`${namespace}/${name}`);
    if (object === undefined) return void status(response, 404, "NotFound", `${plural} "${name}" not found`);
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      return void status(response, 409, "Conflict", "the object has been modified");
    const { conditions: own } = patch.status as { conditions: { type: string }[] };
    const { conditions = [] } = (object.status ?? {}) as { conditions?: { type: string }[] };
    const others = conditions.filter(({ type }) => own.every((condition) => condition.type !== type));
    const write = this.slow ? this.putUnseen : this.put;
    write.call(this, plural, { ...object, status: { ...(object.status as object), conditions: [...others, ...own] } });
    json(response, 200, this.object(plural, name, namespace));
  }

  #objectsAt(url: URL, namespace: string, plural: string, name: string | undefined, response: ServerResponse): void {
    if (name !== undefined) {
      const object = this.#all(plural).get(`${namespace}/${name}`);
      if (object === undefined) return void status(response, 404, "NotFound", `${plural} "${name}" not found`);
      return void json(response, 200, object);
    }
    const selector = url.searchParams.get("labelSelector");
    const wanted = (object: TestObject): boolean => {
      const [key = "", value] = selector?.split("=") ?? [];
      const inNamespace = namespace === "" || object.metadata.namespace === namespace;
      return inNamespace && (selector === null || object.metadata.labels?.[key] === value);
    };
    if (url.searchParams.get("watch") !== null) return void this.#watch(url, plural, wanted, response);
    const all = [...this.#all(plural).values()].filter(wanted);
    const from = Number(url.searchParams.get("continue") ?? 0);
    const to = from + Number(url.searchParams.get("limit") ?? all.length);
    const next = to < all.length ? { continue: String(to) } : {};
    const items = all.slice(from, to);
    json(response, 200, { kind: "List", metadata: { resourceVersion: String(this.#version), ...next }, items });
  }

  #watch(url: URL, plural: string, wanted: Watch["wanted"], response: ServerResponse): void {
    const since = Number(url.searchParams.get("resourceVersion"));
    if (since < this.oldest) return void status(response, 410, "Expired", `too old resource version: ${since}`);
    const watch: Watch = { plural, wanted, response };
    this.#watches.add(watch);
    response.on("close", () => this.#watches.delete(watch));
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    for (const object of this.#all(plural).values()) {
      if (wanted(object) && Number(object.metadata.resourceVersion) > since) {
        response.write(`${JSON.stringify({ type: "MODIFIED", object })}\n`);
      }
    }
  }
}

/** An answer that refuses. */
export function status(response: ServerResponse, code: number, reason: string, message: string): void {
  json(response, code, { kind: "Status", status: "Failure", code, reason, message });
}

/** An answer. */
export function json(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
