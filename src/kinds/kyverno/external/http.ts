/** `http`: requests to HTTP servers (spec kyverno.md 4.5). */
import {
  ANY,
  CelError,
  type FunctionDeclaration,
  mapType,
  type Overload,
  opaqueType,
  type Result,
  STRING,
  type Type,
  type Value,
  type Waiting,
} from "../../../cel/index.js";
import { trusted } from "../../../world/http/pem.js";
import type { KyvernoState } from "../state.js";
import { asValue, ContextValue } from "./context-value.js";
import { bodyOf, jsonOf, textMap } from "./json-argument.js";

/** The type of `http`. */
export const HTTP_CONTEXT = opaqueType("http.Context");
const TEXTS = mapType(STRING, STRING);

/** The value of `http`, and of `http.Client`. */
export class HttpValue extends ContextValue {
  /** @param ca certificates (PEM) that alone are trusted; `""`: the default ones */
  constructor(readonly ca: string) {
    super("http.Context");
  }

  override get identity(): string {
    return this.ca;
  }
}

const FAILED = "request failed";

/** Sends the request of a call: with its receiver and arguments. */
type Send = (
  state: unknown,
  http: HttpValue,
  url: string,
  body: Value | undefined,
  headers: Value | undefined,
) => Result | Waiting;

const sending =
  (namespaced: boolean): Send =>
  (state, { ca }, url, value, given) => {
    const { external } = (state as KyvernoState).world;
    const data = value === undefined ? undefined : jsonOf(value, 2);
    if (data instanceof CelError) return data;
    const headers = given === undefined ? {} : textMap(given, value === undefined ? 2 : 3);
    if (headers instanceof CelError) return headers;
    const body = data === undefined ? undefined : bodyOf(data);
    const method = body === undefined ? "GET" : "POST";
    return asValue(external.send({ method, url, headers, body, ca, namespaced }), FAILED);
  };

/** Makes a client. As in the reference, the certificates are parsed now (spec kyverno.md 4.5). */
function client(http: HttpValue, pem: string): HttpValue | CelError {
  const ca = trusted(pem);
  if (ca === "") return http;
  return ca !== undefined ? new HttpValue(ca) : new CelError(`${FAILED}: failed to parse PEM CA bundle for APICall`);
}

/** The methods of `http`. */
export function httpMethods(namespaced: boolean): readonly FunctionDeclaration[] {
  const send = sending(namespaced);
  const asking = (id: string, params: readonly Type[], call: NonNullable<Overload["call"]>): Overload => ({
    id,
    member: true,
    params: [HTTP_CONTEXT, ...params],
    result: ANY,
    call,
  });
  const named = (
    ending: "pascal" | "camel",
    names: readonly [string, string, string],
  ): readonly FunctionDeclaration[] => [
    {
      name: names[0],
      overloads: [
        asking(`http_get_string_${ending}`, [STRING], (state, http, url) =>
          send(state, http as HttpValue, url as string, undefined, undefined),
        ),
        asking(`http_get_string_headers_${ending}`, [STRING, TEXTS], (state, http, url, headers) =>
          send(state, http as HttpValue, url as string, undefined, headers),
        ),
      ],
    },
    {
      name: names[1],
      overloads: [
        asking(`http_post_string_any_${ending}`, [STRING, ANY], (state, http, url, data) =>
          send(state, http as HttpValue, url as string, data, undefined),
        ),
        asking(`http_post_string_any_headers_${ending}`, [STRING, ANY, TEXTS], (state, http, url, data, headers) =>
          send(state, http as HttpValue, url as string, data, headers),
        ),
      ],
    },
    {
      name: names[2],
      overloads: [
        {
          id: `http_client_string_${ending}`,
          member: true,
          params: [HTTP_CONTEXT, STRING],
          result: HTTP_CONTEXT,
          implementation: (http, pem) => client(http as HttpValue, pem as string),
        },
      ],
    },
  ];
  return [...named("pascal", ["Get", "Post", "Client"]), ...named("camel", ["get", "post", "client"])];
}
