import type { PageState } from "../../api.js";
import { h, put, sign } from "./element.js";
import { askState } from "./wire.js";

/** Interval of checking for a new state, by mode; after a failure shorter, then longer and longer. In milliseconds. */
const EVERY = { play: 4000, read: 15_000 } as const;
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;

/** Keeps the page up to date: calls `onState` with every new state, and shows in `place` when the server does not answer. */
export function connect(place: HTMLElement, onState: (state: PageState) => void): { readonly lookNow: () => void } {
  let retry = FIRST_RETRY;
  let timer: number | undefined;
  let asking = false;

  function later(milliseconds: number): void {
    window.clearTimeout(timer);
    timer = window.setTimeout(look, milliseconds);
  }

  function complain(reason: string): void {
    const seconds = Math.round(retry / 1000);
    const again = h("button", { type: "button", class: "plain", click: () => look() }, "Try now");
    put(place, h("p", {}, sign("!", "failed"), `${reason} Next try in ${seconds} s.`), again);
    place.hidden = false;
    later(retry);
    retry = Math.min(LAST_RETRY, retry * 2);
  }

  function look(): void {
    if (asking) return;
    asking = true;
    askState()
      .then(
        (state) => {
          retry = FIRST_RETRY;
          place.hidden = true;
          put(place);
          onState(state);
          later(EVERY[state.mode] ?? EVERY.read);
        },
        (error: unknown) => complain(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        asking = false;
      });
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") look();
    else window.clearTimeout(timer);
  });
  look();
  return { lookNow: look };
}
