// The framework of a page: its element, its part of the address, and reloading when something has changed.
import { get } from "./api.js";
import { render } from "./dom.js";
import { isLive, onSample } from "./live.js";
import { failure, loading } from "./states.js";

const PAUSE_MS = 1500; // at least so long between two reads of the same

export class View {
  constructor(box, query, id, session) {
    this.box = box;
    this.query = query;
    this.id = id;
    this.operator = session.role === "operator";
    this.ended = new AbortController();
  }

  get signal() {
    return this.ended.signal;
  }

  end() {
    this.ended.abort();
  }

  // Reads with load and draws with draw(data) into box: now, when one of names changes, and every every_ms.
  // Gives a function that does it at once.
  watch(box, load, draw, { names = [], every_ms = 0 } = {}) {
    let reading = false, again = false, data = null, last_ms = 0, timer = null, due_ms = 0;
    const show = () => data !== null && render(box, draw(data));
    const read = async () => {
      if (reading) {
        again = true;
        return;
      }
      clearTimeout(timer);
      timer = null;
      reading = true;
      try {
        const found = await load((path) => get(path, this.signal));
        if (!this.signal.aborted) {
          data = found;
          show();
        }
      } catch (problem) {
        // Without a session the sign-in says so, over what was there.
        if (!this.signal.aborted && problem.status !== 401) render(box, failure(problem, read));
      }
      reading = false;
      last_ms = Date.now();
      if (again && !this.signal.aborted) {
        again = false;
        later(0);
      } else if (every_ms > 0) {
        later(every_ms);
      }
    };
    const later = (wait_ms) => {
      const wanted_ms = Math.max(Date.now() + wait_ms, last_ms + PAUSE_MS);
      if (this.signal.aborted || (timer !== null && due_ms <= wanted_ms)) return;
      clearTimeout(timer);
      due_ms = wanted_ms;
      timer = setTimeout(() => {
        timer = null;
        if (isLive()) read();
        else later(PAUSE_MS);
      }, due_ms - Date.now());
    };
    this.signal.addEventListener("abort", () => clearTimeout(timer));
    document.addEventListener("redraw", show, { signal: this.signal });
    if (names.length > 0)
      onSample((sample) => {
        if (data !== null && !reading && sample.changes.some((name) => names.includes(name))) later(0);
      }, this.signal);
    render(box, loading());
    read();
    return read;
  }
}
