/** How a plugin's HTTP request and its answer cross from the guest's thread to the main thread and back: as JSON, so that sessions can hold them. */

/** The host call. Its binding is not Kubewarden's: what Kubewarden's patterns grant, `*` too, is not HTTP. */
export const HTTP_CALL = { binding: "extism", namespace: "http", operation: "request" } as const;

/** What is asked. */
export interface HttpQuestion {
  readonly url: string;
  /** Any case; absent: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body?: string;
}

/** An answer, whatever its status. */
export type HttpAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
} & (
  | {
      /** Base64. */
      readonly body: string;
    }
  | {
      /** Why there is no body: it is too large. */
      readonly problem: string;
    }
);
