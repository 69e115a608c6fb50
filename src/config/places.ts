/** Places from which modules of namespaced policies may come (`--namespaced-policy-places`). */
import { imagePath, isDockerHub, splitHost } from "./registry-host.js";

/** The server of Docker Hub's tokens: among the usual registries only Docker Hub has them elsewhere. */
const HUB_TOKENS = "auth.docker.io";

/** The beginning of addresses. */
interface Place {
  /** For an HTTP server its origin; for a registry its host, with a port other than HTTPS' own. */
  readonly server: string;
  /** The path of which addresses lie below; empty: everything of the server. */
  readonly path: string;
}

/** The destination of an address counts, not its spelling: a place without a port is one at the scheme's own port. */
export class Places {
  readonly #servers: readonly Place[];
  readonly #registries: readonly Place[];

  /** @param texts `ghcr.io/acme`, `registry://ghcr.io/acme` or `https://modules.example/acme`; any other text covers nothing */
  constructor(texts: readonly string[]) {
    const isServer = (text: string): boolean => /^https?:\/\//i.test(text);
    this.#servers = texts.filter(isServer).flatMap((text) => serverPlace(text) ?? []);
    this.#registries = texts.filter((text) => !isServer(text)).flatMap(registryPlaces);
  }

  /** Whether an address of a module (`ModuleAddress.location`) lies below a place: `ghcr.io/acme` is above `ghcr.io/acme/x:v1`, and not above `ghcr.io/acme-too/x`. */
  has(location: string): boolean {
    if (!location.startsWith("registry://")) {
      const address = serverPlace(location);
      return address !== undefined && this.#servers.some((place) => isBelow(place, address));
    }
    const { host, path } = splitHost(location.slice("registry://".length));
    const address = { server: hostKey(host), path: imagePath(host, path) };
    return this.#registries.some((place) => isBelow(place, address, /^[/:@]/));
  }

  /** Whether a server may redirect to a URL: it lies below a place, of a registry's by the paths of its API. */
  leadsTo(url: URL): boolean {
    const address = serverPlace(url.href);
    if (address === undefined) return false;
    const { path } = address;
    const inRegistry = { server: hostKey(url.host), path: path.startsWith("/v2/") ? path.slice("/v2/".length) : "" };
    return [
      ...this.#servers.map((place) => isBelow(place, address)),
      ...this.#registries.map((place) => isBelow(place, inRegistry)),
    ].includes(true);
  }

  /** Whether a registry below a place may name a URL for its tokens: its own, that of Docker Hub for Docker Hub, and those below a place. */
  hasTokens(registry: string, url: URL): boolean {
    const isOwn = hostKey(url.host) === hostKey(registry) || (isDockerHub(registry) && url.host === HUB_TOKENS);
    return isOwn || this.leadsTo(url);
  }
}

/** A host in one spelling: case has no meaning, nor has HTTPS' own port, and Docker Hub has several names. */
function hostKey(written: string): string {
  const host = written.toLowerCase().replace(/:443$/, "");
  return isDockerHub(host) ? "docker.io" : host;
}

/** An address in its only spelling; undefined where servers may read it in several ways. */
function serverPlace(text: string): Place | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, username, password } = new URL(text);
  // Only the server itself knows whether it reads these as slashes and dots.
  if (username !== "" || password !== "" || /%(?:2e|2f|5c)/i.test(pathname)) return undefined;
  return { server: origin, path: pathname === "/" ? "" : pathname };
}

function registryPlaces(text: string): readonly Place[] {
  const name = text.replace(/^registry:\/\//, "");
  if (name === "") return [];
  const isHost = !name.includes("/") && /[.A-Z[]|^localhost$|:\d+$/.test(name);
  const { host, path } = splitHost(isHost ? `${name}/` : name);
  // A single name at Docker Hub is that of an image of its own, or of a publisher there.
  const paths = path === "" ? [path] : [...new Set([path, imagePath(host, path)])];
  return paths.map((each) => ({ server: hostKey(host), path: each }));
}

/** @param border the allowed text behind the path of a place that does not end with a slash */
function isBelow(place: Place, { server, path }: Place, border = /^\//): boolean {
  if (place.server !== server || !path.startsWith(place.path)) return false;
  const rest = path.slice(place.path.length);
  return place.path === "" || place.path.endsWith("/") || rest === "" || border.test(rest);
}
