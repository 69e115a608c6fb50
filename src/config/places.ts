/** Places that modules of namespaced policies may come from (`--namespaced-policy-places`). */
import { imagePath, isDockerHub, splitHost } from "./registry-host.js";

/** Where Docker Hub gives out tokens: the one registry that everybody names and that has them elsewhere. */
const HUB_TOKENS = "auth.docker.io";

/** The beginning of addresses. */
interface Place {
  /** Of an HTTP server its origin; of a registry its host, with a port that is not HTTPS' own. */
  readonly server: string;
  /** Below which addresses lie; empty: everything of the server. */
  readonly path: string;
}

/** What counts is where an address leads to, not how it begins: a place without a port is one at the scheme's own port. */
export class Places {
  readonly #servers: readonly Place[];
  readonly #registries: readonly Place[];

  /** @param texts `ghcr.io/acme`, `registry://ghcr.io/acme` or `https://modules.example/acme`; what is none of these is above nothing */
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

  /** Whether a registry below a place may name a URL for its tokens: its own, those of Docker Hub for that, and what lies below a place. */
  hasTokens(registry: string, url: URL): boolean {
    const isOwn = hostKey(url.host) === hostKey(registry) || (isDockerHub(registry) && url.host === HUB_TOKENS);
    return isOwn || this.leadsTo(url);
  }
}

/** Case has no meaning in a host, nor has HTTPS' own port, and Docker Hub has several names. */
function hostKey(written: string): string {
  const host = written.toLowerCase().replace(/:443$/, "");
  return isDockerHub(host) ? "docker.io" : host;
}

/** An address in the one way in which it can be written; undefined where servers may read it in several. */
function serverPlace(text: string): Place | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, username, password } = new URL(text);
  // Only a server itself knows whether it takes these for slashes and dots.
  if (username !== "" || password !== "" || /%(?:2e|2f|5c)/i.test(pathname)) return undefined;
  return { server: origin, path: pathname === "/" ? "" : pathname };
}

function registryPlaces(text: string): readonly Place[] {
  const name = text.replace(/^registry:\/\//, "");
  if (name === "") return [];
  const isHost = !name.includes("/") && /[.A-Z[]|^localhost$|:\d+$/.test(name);
  const { host, path } = splitHost(isHost ? `${name}/` : name);
  // One name at Docker Hub is that of an image of its own, or of those who publish there.
  const paths = path === "" ? [path] : [...new Set([path, imagePath(host, path)])];
  return paths.map((each) => ({ server: hostKey(host), path: each }));
}

/** @param border what may follow the path of a place that does not end with a slash */
function isBelow(place: Place, { server, path }: Place, border = /^\//): boolean {
  if (place.server !== server || !path.startsWith(place.path)) return false;
  const rest = path.slice(place.path.length);
  return place.path === "" || place.path.endsWith("/") || rest === "" || border.test(rest);
}
