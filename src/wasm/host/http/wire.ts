/** The format of a plugin's HTTP request and answer between the guest's thread and the main thread: JSON, so that sessions can record them. */

/** The host call. Its binding is not Kubewarden's, so that Kubewarden's patterns, `*` included, do not permit HTTP. */
export const HTTP_CALL = { binding: "extism", namespace: "http", operation: "request" } as const;

/** The request. */
export interface HttpQuestion {
  readonly url: string;
  /** Method in any case; absent: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body in base64. */
  readonly body?: string;
}

/** An answer, whatever its status. */
export type HttpAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
} & (
  | {
      /** The body in base64. */
      readonly body: string;
    }
  | {
      /** The reason why there is no body: it is too large. */
      readonly problem: string;
    }
);
