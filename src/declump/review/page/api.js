// What the page asks of the server, and what the server tells the page.

export class Refused extends Error {}

async function ask(path, options) {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  if (!answer.ok) throw new Refused(await answer.text() || `the server answered ${answer.status}`);
  return answer;
}

function post(path, body) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

// The token stands behind the # of the address, which browsers send to nobody; a cookie takes its place.
export async function logIn() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  await post("/api/login", { token });
  history.replaceState(null, "", location.pathname);
}

export const listImages = async () => (await ask("/api/images")).json();

export async function openImage(id) {
  const answer = await ask(`/api/images/${id}`);
  return answer.json();
}

// Of a slide: the cells of a window of it, and the next doubtful one.
export const openWindow = async (id, box) => (await ask(`/api/images/${id}/cells/${box.join("_")}`)).json();

export const findDoubtful = async (id, after) => (await ask(`/api/images/${id}/doubtful/${after || 0}`)).json();

export const save = async (id) => (await post(`/api/images/${id}/save`, {})).json();

// An edit has a name of its own: sent again after a lost connection, it is made once.
export async function sendEdit(id, edit) {
  const name = crypto.randomUUID();
  for (let attempt = 0; ; attempt++) {
    try {
      return { name, facts: await (await post(`/api/images/${id}/edits`, { id: name, edit })).json() };
    } catch (error) {
      if (error instanceof Refused || attempt >= 5) throw error;
      await new Promise((done) => setTimeout(done, 300 * (attempt + 1)));
    }
  }
}

// Listens for ever: after a lost connection it comes back, and says so, because something may have been missed.
export class Live {
  constructor(hear, lost) {
    this.hear = hear;
    this.lost = lost;
    this.image = "";
    this.connected = 0;
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/api/live`);
    this.socket.onopen = () => {
      if (this.image) this.show(this.image);
      if (this.connected++) this.hear({ type: "reload" });
      this.lost(false);
    };
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.lost(true);
      setTimeout(() => this.connect(), 1000);
    };
  }

  // A cell was chosen: what an edit of it needs is made ready.
  look(cell) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ look: cell }));
  }

  show(image) {
    this.image = image;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ open: image }));
  }
}
