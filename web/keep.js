// What the reader has chosen, kept in the browser; without storage it lasts as long as the page.
const KEPT = new Map();

export function recall(name, otherwise) {
  if (KEPT.has(name)) return KEPT.get(name);
  try {
    const text = localStorage.getItem("pawl-" + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  KEPT.set(name, value);
  try {
    localStorage.setItem("pawl-" + name, JSON.stringify(value));
  } catch {
    // as above
  }
}

// Asks what is shown to be drawn again from the data that is there.
export const redraw = () => document.dispatchEvent(new Event("redraw"));
