/** A small API server on loopback, over TLS: discovery, get, list with pages, watch, access reviews, writes. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { type Certificate, newCertificate } from "../../fetch/certificates.js";
import { FAKE_RESOURCES } from "./fake-resources.js";
import { patchedBy } from "./fake-writes.js";

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

/** A resource as discovery lists it. */
export interface TestResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

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
  /** What nobody may do, as `watch pods`: verb and resource. */
  readonly forbidden = new Set<string>();
  /** What discovery lists, by the path of the API version. */
  readonly resources = new Map<string, readonly TestResource[]>(Object.entries(FAKE_RESOURCES));
  /** Lists of a resource as they were, from an API server that has fallen behind; `NotOlderThan` gets what is. */
  readonly #frozen = new Map<string, { readonly objects: readonly TestObject[]; readonly version: number }>();
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

  /** Has lists of a resource say from now on what they say now. */
  freeze(plural: string): void {
    this.#frozen.set(plural, { objects: this.objects(plural), version: this.#version });
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
    const resources = this.resources.get(url.pathname);
    if (resources !== undefined) {
      const listed = resources.map((each) => ({ verbs: ["get", "list", "watch"], ...each }));
      return void json(response, 200, { kind: "APIResourceList", resources: listed });
    }
    if (url.pathname === "/apis") return void json(response, 200, { kind: "APIGroupList", groups: this.#groups() });
    const roots = [...this.resources.keys()];
    const versions = roots.filter((path) => path.startsWith(`${url.pathname}/`));
    if (url.pathname.startsWith("/apis/") && versions.length > 0) {
      const list = versions.map((path) => ({ groupVersion: path.slice(6), version: path.split("/")[3] }));
      return void json(response, 200, { kind: "APIGroup", versions: list });
    }
    const root = roots.find((path) => url.pathname.startsWith(`${path}/`));
    let parts = url.pathname
      .slice((root ?? "").length + 1)
      .split("/")
      .map(decodeURIComponent);
    let namespace = "";
    if (parts[0] === "namespaces" && parts.length > 2 && !["status", "finalize"].includes(parts[2] ?? ""))
      [, namespace = "", ...parts] = parts;
    const [plural = "", name, subresource] = parts;
    const known = this.resources.get(root ?? "")?.find((resource) => resource.name === plural);
    if (known === undefined || (!known.namespaced && namespace !== ""))
      return void status(response, 404, "NotFound", "the server could not find the requested resource");
    const verb = verbOf(request.method ?? "", name, url);
    if (this.forbidden.has(`${verb} ${plural}`)) {
      const message = `${plural} is forbidden: User "test" cannot ${verb} resource "${plural}"`;
      return void status(response, 403, "Forbidden", message);
    }
    if (request.method === "GET") return this.#objectsAt(url, namespace, plural, name, response);
    const written = await text(request);
    const body: unknown = written === "" ? {} : JSON.parse(written);
    if (request.method === "PATCH") {
      const type = request.headers["content-type"] ?? "";
      this.patches.push({ query: url.search, type, body: body as TestObject });
    }
    await this.beforeWrite(request, response);
    if (response.writableEnded) return;
    const dryRun = url.searchParams.get("dryRun") === "All";
    const target: Target = { plural, namespace, name: name ?? "", subresource, dryRun, response };
    if (request.method === "POST") this.#create(target, body as TestObject);
    else if (request.method === "DELETE") this.#delete(target, body as TestObject);
    else this.#change(target, request, body);
  }

  /** Groups with their versions, the first one preferred. */
  #groups(): readonly unknown[] {
    const versions = [...this.resources.keys()]
      .filter((path) => path.startsWith("/apis/"))
      .map((path) => path.slice(6));
    const names = [...new Set(versions.map((version) => version.split("/")[0] ?? ""))];
    return names.map((name) => {
      const own = versions.filter((each) => each.startsWith(`${name}/`)).map((groupVersion) => ({ groupVersion }));
      return { name, versions: own, preferredVersion: own[0] };
    });
  }

  #create({ plural, dryRun, response, ...at }: Target, object: TestObject): void {
    const { name, namespace = at.namespace } = object.metadata;
    const known = this.#all(plural).has(`${namespace}/${name}`);
    if (known) return void status(response, 409, "AlreadyExists", `${plural} "${name}" already exists`);
    const within = namespace === "" ? {} : { namespace };
    const created = { ...object, metadata: { uid: randomUUID(), ...object.metadata, ...within } };
    if (!dryRun) this.#store(plural, created);
    json(response, 201, (!dryRun && this.object(plural, name, namespace)) || created);
  }

  #delete({ plural, namespace, name, dryRun, response }: Target, { preconditions }: TestObject): void {
    const object = this.object(plural, name, namespace);
    if (object === undefined) return void status(response, 404, "NotFound", `${plural} "${name}" not found`);
    for (const [key, value] of Object.entries(preconditions ?? {})) {
      if (object.metadata[key] === value) continue;
      return void status(response, 409, "Conflict", `Precondition failed: ${key} in precondition: ${value}`);
    }
    if (!dryRun) this.remove(plural, name, namespace);
    json(response, 200, { kind: "Status", status: "Success" });
  }

  /** Replaces, patches or applies; who manages what is not held. */
  #change(target: Target, request: IncomingMessage, body: unknown): void {
    const { plural, namespace, name, subresource, dryRun, response } = target;
    const before = this.object(plural, name, namespace);
    const type = request.headers["content-type"] ?? "";
    if (before === undefined) {
      const applied = type === "application/apply-patch+yaml" && subresource === undefined;
      if (applied) this.#create(target, body as TestObject);
      else status(response, 404, "NotFound", `${plural} "${name}" not found`);
      return;
    }
    const whole = (request.method === "PUT" ? body : patchedBy(type, before, body)) as TestObject | undefined;
    if (whole === undefined) return void status(response, 422, "Invalid", "the server rejected our request");
    const { resourceVersion = before.metadata.resourceVersion, uid = before.metadata.uid } = whole.metadata;
    if (resourceVersion !== before.metadata.resourceVersion || uid !== before.metadata.uid)
      return void status(response, 409, "Conflict", "the object has been modified");
    const after = subresource === "status" ? { ...before, status: whole.status } : { ...whole };
    const { metadata } = subresource === "status" ? before : whole;
    const stored = { ...after, metadata: { ...metadata, uid: before.metadata.uid } };
    // What changes nothing is no new version.
    const same = isDeepStrictEqual(
      JSON.parse(JSON.stringify({ ...stored, metadata: { ...stored.metadata, resourceVersion } })),
      before,
    );
    if (!dryRun && !same) this.#store(plural, stored);
    json(response, 200, dryRun ? stored : this.object(plural, name, namespace));
  }

  /** Keeps what a request has written. */
  #store(plural: string, object: TestObject): void {
    const write = this.slow ? this.putUnseen : this.put;
    write.call(this, plural, object);
  }

  #objectsAt(url: URL, namespace: string, plural: string, name: string | undefined, response: ServerResponse): void {
    if (name !== undefined) {
      const object = this.#all(plural).get(`${namespace}/${name}`);
      if (object === undefined) return void status(response, 404, "NotFound", `${plural} "${name}" not found`);
      return void json(response, 200, object);
    }
    const labels =
      (url.searchParams.get("labelSelector") || undefined)?.split(",").map((each) => each.split("=")) ?? [];
    const named = /^metadata\.name=(.*)$/
      .exec(url.searchParams.get("fieldSelector") ?? "")?.[1]
      ?.replace(/\\(.)/g, "$1");
    const wanted = ({ metadata }: TestObject): boolean =>
      (namespace === "" || metadata.namespace === namespace) &&
      labels.every(([label = "", value]) => metadata.labels?.[label] === value) &&
      (named === undefined || metadata.name === named);
    if (url.searchParams.get("watch") !== null) return void this.#watch(url, plural, wanted, response);
    const current = { objects: this.objects(plural), version: this.#version };
    const fresh = url.searchParams.get("resourceVersionMatch") === "NotOlderThan";
    const { objects, version } = (fresh ? undefined : this.#frozen.get(plural)) ?? current;
    const all = objects.filter(wanted);
    const from = Number(url.searchParams.get("continue") ?? 0);
    const to = from + Number(url.searchParams.get("limit") ?? all.length);
    const next = to < all.length ? { continue: String(to) } : {};
    const items = all.slice(from, to);
    json(response, 200, { kind: "List", metadata: { resourceVersion: String(version), ...next }, items });
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

/** Where a request writes. */
interface Target {
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly dryRun: boolean;
  readonly response: ServerResponse;
}

function verbOf(method: string, name: string | undefined, url: URL): string {
  if (method === "GET" && name === undefined) return url.searchParams.get("watch") === null ? "list" : "watch";
  return { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" }[method] ?? method;
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
