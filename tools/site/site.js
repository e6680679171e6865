// Search, theme, menu and copy buttons of the documentation. Works from file://: the index of the search is a script.
'use strict';

const THEME = 'pawl-docs-theme';
const RESULTS_MAX = 30;
const SAID_MAX = 160;

function remembered() {
  try { return localStorage.getItem(THEME); } catch { return null; }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem(THEME, theme); } catch { /* a file may have no storage */ }
}

if (remembered()) document.documentElement.dataset.theme = remembered();

function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

let loading = null;
function pages() {
  loading ??= new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = 'search.js';
    script.onload = () => done(window.PAWL_PAGES);
    script.onerror = failed;
    document.head.append(script);
  });
  return loading;
}

// What a word has in common with its other forms: upgrade, upgrades, upgrading.
const stem = (word) => (word.length > 4 ? word.replace(/(ing|ed|es|e|s)$/, '') : word);

// Every word must occur; a title counts most, then a heading, then how often and how early it is said. History comes last.
function find(rows, words) {
  const found = [];
  for (const [file, title, anchor, heading, text] of rows) {
    const [name, head, body] = [title, heading, text].map((part) => part.toLowerCase());
    let score = 0;
    for (const word of words.map(stem)) {
      const at = body.indexOf(word);
      if (at < 0 && !name.includes(word)) { score = 0; break; }
      score += (head.includes(word) ? 60 : 0) + (name.includes(word) ? 25 : 0);
      if (at >= 0) score += 20 - Math.min(15, at / 60) + 3 * Math.min(5, body.split(word).length - 1);
      if (stem(head) === word || stem(name) === word) score += 60;
    }
    if (score) found.push({ score: score - (/^(CHANGELOG|decisions|bench)/.test(file) ? 80 : 0), file, title, anchor, heading, text });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, RESULTS_MAX);
}

function said(text, asked) {
  const words = asked.map(stem);
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const first = places.length ? Math.max(0, Math.min(...places) - 40) : 0;
  const part = (first ? '… ' : '') + text.slice(first, first + SAID_MAX) + (first + SAID_MAX < text.length ? ' …' : '');
  const line = document.createElement('p');
  const split = new RegExp('(' + words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') + ')', 'gi');
  for (const piece of part.split(split)) {
    const matched = words.includes(piece.toLowerCase());
    const node = matched ? document.createElement('mark') : document.createTextNode(piece);
    if (matched) node.textContent = piece;
    line.append(node);
  }
  return line;
}

async function search(text) {
  const box = document.getElementById('site_found');
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) { box.hidden = true; return; }
  const found = find(await pages(), words);
  box.replaceChildren(...found.map((row) => {
    const link = document.createElement('a');
    link.href = row.file + (row.anchor ? '#' + row.anchor : '');
    const name = document.createElement('b');
    name.textContent = row.heading && row.heading !== row.title ? `${row.title} › ${row.heading}` : row.title;
    link.append(name, said(row.text, words));
    link.addEventListener('click', () => { box.hidden = true; });
    return link;
  }));
  if (!found.length) box.textContent = `Nothing has “${text}”.`;
  box.hidden = false;
}

function moveIn(box, step) {
  const links = [...box.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  (links[at + step] ?? document.querySelector('#site_search input')).focus();
}

function start() {
  const form = document.getElementById('site_search');
  const input = form.elements.q;
  const box = document.getElementById('site_found');
  const menu = document.getElementById('site_menu');
  input.addEventListener('focus', pages);
  input.addEventListener('input', () => search(input.value));
  form.addEventListener('submit', (event) => { event.preventDefault(); box.querySelector('a')?.click(); });
  document.getElementById('site_theme').addEventListener('click', () => setTheme(dark() ? 'light' : 'dark'));
  menu.addEventListener('click', () => {
    const open = document.body.classList.toggle('menu');
    menu.setAttribute('aria-expanded', String(open));
  });
  document.addEventListener('keydown', (event) => {
    const typing = document.activeElement === input;
    if (event.key === '/' && !typing) { event.preventDefault(); input.focus(); }
    else if (event.key === 'Escape') { box.hidden = true; input.blur(); }
    else if (!box.hidden && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      moveIn(box, event.key === 'ArrowDown' ? 1 : -1);
    }
  });
  document.addEventListener('click', (event) => { if (!box.contains(event.target) && event.target !== input) box.hidden = true; });
  for (const figure of document.querySelectorAll('figure.code')) {
    if (!navigator.clipboard || figure.classList.contains('output')) continue;
    const button = document.createElement('button');
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('pre').textContent);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    figure.append(button);
  }
  document.querySelector('#site_pages [aria-current]')?.scrollIntoView({ block: 'nearest' });
  const asked = new URLSearchParams(location.search).get('q');
  if (asked) { input.value = asked; search(asked); }
}

document.addEventListener('DOMContentLoaded', start);
