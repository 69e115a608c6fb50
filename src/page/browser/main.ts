/** The page's script: finds the landmarks of index.html, and starts. */
import { start } from "./app.js";

function place(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found;
}

start({
  skip: place("skip"),
  about: place("about"),
  menu: place("menu"),
  connection: place("connection"),
  policies: place("policies"),
  main: place("main"),
  side: place("side"),
});
