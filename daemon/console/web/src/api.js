// The session, and calls of the server. Every request goes to this server.
import { useEffect, useState } from 'preact/hooks';

const tokenKey = 'itemdb.session';

export class CallError extends Error {
  constructor(status, type, message, body) {
    super(message);
    this.status = status;
    this.type = type;
    this.body = body;
  }
}

// What /api/session answers; null until it was asked. `ended`: there was a session and it has ended.
let session = null;
const watchers = new Set();
// Reads that wait until somebody has signed in again.
let waiting = [];

function setSession(changed) {
  session = changed;
  for (const watcher of watchers) watcher(session);
  if (session.signed_in) {
    const resume = waiting;
    waiting = [];
    for (const go of resume) go();
  }
}

export function useSession() {
  const [seen, see] = useState(session);
  useEffect(() => {
    watchers.add(see);
    see(session);
    return () => watchers.delete(see);
  }, []);
  return seen;
}

function readToken() {
  try { return localStorage.getItem(tokenKey) ?? ''; } catch { return ''; }
}
function keepToken(token) {
  try {
    if (token) localStorage.setItem(tokenKey, token);
    else localStorage.removeItem(tokenKey);
  } catch { /* Without storage the session lasts as long as the page. */ }
  memoryToken = token;
}
let memoryToken = readToken();

async function post(path, { headers = {}, body, signal, background } = {}) {
  let reply;
  try {
    reply = await fetch(path, {
      method: 'POST', body, signal, credentials: 'same-origin', cache: 'no-store',
      headers: { 'X-Itemdb-Session': readToken() || memoryToken || '', ...(background ? { 'X-Itemdb-Background': '1' } : {}), ...headers },
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new CallError(0, 'Unreachable', 'itemd does not answer: it has stopped, or the connection is gone');
  }
  const text = await reply.text();
  if ((reply.headers.get('Content-Type') ?? '').startsWith('text/plain')) return text;
  let read;
  try { read = text ? JSON.parse(text) : {}; } catch { throw new CallError(reply.status, 'NotJson', 'the answer is not JSON'); }
  if (reply.ok) return read;
  throw new CallError(reply.status, (read.__type ?? '').split('#').pop(), read.message ?? read.Message ?? `status ${reply.status}`, read);
}

export async function loadSession() { setSession(await post('/api/session', { background: true })); }

export async function signIn(id, secret) {
  const bytes = new TextEncoder().encode(`${id}:${secret}`);
  const begun = await post('/api/sign-in', { headers: { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` } });
  keepToken(begun.token);
  setSession({ ...begun, token: undefined });
}

export async function signOut() {
  const ended = await post('/api/sign-out');
  keepToken('');
  setSession(ended);
}

export async function setEditing(on) { setSession(await post(`/api/editing/${on ? 'on' : 'off'}`)); }

// Calls `target`, such as "DynamoDB_20120810.PutItem". With `write` the call is not repeated after a sign-in: it fails
// with status 401, and the person decides. `background`: the page calls by itself.
export async function call(target, body = {}, { write = false, background = false, signal } = {}) {
  for (;;) {
    try {
      return await post('/api', { headers: { 'X-Amz-Target': target, 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal, background });
    } catch (error) {
      if (error.status !== 401) throw error;
      setSession({ ...session, signed_in: false, ended: true });
      if (write) throw new CallError(401, error.type, 'Your session has ended, and nothing was written. Sign in, then save again.');
      await new Promise((resume, reject) => {
        waiting.push(resume);
        signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
    }
  }
}

export const dynamo = (operation, body, options) => call(`DynamoDB_20120810.${operation}`, body, options);
export const itemdb = (method, body, options) => call(`itemdb.v1.${method}`, body, options);

export const isDenied = (error) => error.type === 'AccessDeniedException';

// Loads something when `keys` change, and again every `every` milliseconds while the page is seen.
export function useLoad(load, keys, every = 0) {
  const [state, setState] = useState({ value: null, error: null, loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    let first = true;
    setState((old) => ({ ...old, loading: true }));
    const go = async () => {
      const background = !first;
      first = false;
      let denied = false;
      if (background && document.hidden) { timer = setTimeout(go, every); return; }
      try {
        const value = await load({ signal: abort.signal, background });
        if (!abort.signal.aborted) setState({ value, error: null, loading: false });
      } catch (error) {
        // It would be refused, and recorded, again and again.
        denied = isDenied(error);
        if (!abort.signal.aborted) setState((old) => ({ value: old.value, error, loading: false }));
      }
      if (every > 0 && !denied && !abort.signal.aborted) timer = setTimeout(go, every);
    };
    go();
    return () => { abort.abort(); clearTimeout(timer); };
  }, [...keys, turn]);
  return { ...state, again: () => setTurn((old) => old + 1) };
}
