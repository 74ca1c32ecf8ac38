// Questions to the local server. A newer question cancels the older one, whose answer is never shown.

/** The server's one line on why it did not answer. */
export class Refused extends Error {}

async function responseTo(path, body, signal) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request =
    body === undefined
      ? { signal }
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: text, signal };
  let response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer; is `tallystick explore` still running?");
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  throw new Refused(answer?.error ?? `The server answered with status ${response.status}.`);
}

export const get = async (path, signal) => (await responseTo(path, undefined, signal)).json();
/** Ask with a body; a string is sent as it is, so that its numbers keep their digits. */
export const post = async (path, body, signal) => (await responseTo(path, body, signal)).json();

/** The answer as it was written: a file must not lose digits on its way through this language's numbers. */
export const postForText = async (path, body) => (await responseTo(path, body)).text();

/** Write a query, comma lists kept readable. */
export function query(path, values) {
  const parts = Object.entries(values).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${path}?${parts.join("&")}`;
}

/**
 * One line of questions of which only the last counts.
 * `line(question, { done, failed })`: `question` is handed a signal; neither is called once a newer question was asked,
 * or `line.stop()` was called.
 */
export function inLine() {
  let current = null;
  const line = async (question, { done, failed }) => {
    current?.abort();
    const mine = (current = new AbortController());
    try {
      const answer = await question(mine.signal);
      if (mine === current) done(answer);
    } catch (error) {
      if (mine !== current || error.name === "AbortError") return;
      if (!(error instanceof Refused)) throw error;
      failed(error.message);
    }
  };
  line.stop = () => {
    current?.abort();
    current = null;
  };
  return line;
}

const kept = new Map();

/** Ask once and keep the answer: for what does not change while the server runs. A refusal is not kept. */
export function once(path) {
  if (!kept.has(path)) {
    kept.set(
      path,
      get(path).catch((error) => {
        kept.delete(path);
        throw error;
      }),
    );
  }
  return kept.get(path);
}
