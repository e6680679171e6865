// The token comes in the fragment, which no server sees; it is changed into a session at once.
const say = document.getElementById("say");
const table = document.getElementById("kinds");

async function signIn() {
  const match = location.hash.match(/^#token=([0-9a-zA-Z]+)$/);
  if (!match) return;
  history.replaceState(null, "", location.pathname);
  await fetch("/v1/session", { method: "POST", headers: { authorization: "Bearer " + match[1] } });
}

function show(overview) {
  const body = table.tBodies[0];
  body.replaceChildren(...overview.kinds.map((kind) => {
    const row = document.createElement("tr");
    for (const name of ["kind", "ready", "leased", "aside", "dead"]) {
      const cell = document.createElement("td");
      cell.textContent = kind[name];
      row.append(cell);
    }
    return row;
  }));
  table.hidden = false;
  say.textContent = overview.now_at;
}

await signIn();
const answer = await fetch("/v1/status");
if (answer.ok) {
  show(await answer.json());
  new EventSource("/v1/stream").addEventListener("overview", (event) => show(JSON.parse(event.data)));
}
