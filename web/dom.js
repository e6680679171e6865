// Creates elements, and updates the page to match them while keeping focus, scrolling and open parts.
// Data becomes text nodes and attributes only, never markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const EVENTS = ["onclick", "onsubmit", "onchange", "onkeydown", "onblur", "onpointermove", "onpointerleave", "onpointerdown", "onpointerup"];
const KEPT = { DETAILS: ["open"], DIALOG: ["open"] }; // what the reader has done, not the data

function patchAttributes(old, fresh) {
  const kept = KEPT[old.tagName] || [];
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const name of EVENTS) if (old[name] !== fresh[name]) old[name] = fresh[name];
  if (old.type === "checkbox") old.checked = fresh.checked;
}

function same(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.dataset?.key || "") === (b.dataset?.key || "");
}

// Makes an element of the page like a fresh one.
export function patch(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  patchAttributes(old, fresh);
  patchChildren(old, [...fresh.childNodes]);
}

// A child with a key is found again wherever it was; the others are compared by their place.
function patchChildren(parent, fresh) {
  const keyed = new Map();
  for (const child of parent.children) if (child.dataset?.key) keyed.set(child.dataset.key, child);
  let at = parent.firstChild;
  for (const child of fresh) {
    const known = child.dataset?.key && keyed.get(child.dataset.key);
    const old = known && same(known, child) ? known : at && !at.dataset?.key && same(at, child) ? at : null;
    if (!old) {
      parent.insertBefore(child, at);
      continue;
    }
    patch(old, child);
    if (old === at) at = at.nextSibling;
    else parent.insertBefore(old, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

export function render(parent, ...children) {
  patchChildren(parent, [...h("div", null, children).childNodes]);
}
