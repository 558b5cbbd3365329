// The frame around the screens: navigation by the address after '#', the session.
import { h, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { loadSession, setEditing, signIn, signOut, useSession } from './api.js';
import { Dialog, Failure, Loading, Note, linkTo, useCurrentInView } from './ui.jsx';
import { Tables } from './tables.jsx';
import { Table } from './table.jsx';
import { Metrics } from './metrics.jsx';
import { Changes } from './changes.jsx';
import { Builds } from './builds.jsx';
import { Backups } from './backups.jsx';
import { Patterns } from './patterns.jsx';
import { Slow } from './slow.jsx';
import { Audit } from './audit.jsx';

const screens = {
  tables: ['Tables', Tables], metrics: ['Metrics', Metrics], changes: ['Live changes', Changes], builds: ['Builds and checks', Builds],
  backups: ['Backups', Backups], patterns: ['Access patterns', Patterns], slow: ['Slow requests', Slow], audit: ['Audit', Audit],
};

function useRoute() {
  const read = () => location.hash.replace(/^#\//, '').split('/').filter(Boolean).map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const changed = () => setRoute(read());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

function SignIn({ ended }) {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    const { id, secret } = Object.fromEntries(new FormData(event.target));
    setBusy(true);
    setError(null);
    try {
      await signIn(id.trim(), secret);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  return (
    <Dialog title={ended ? 'Sign in again' : 'Sign in to itemdb'} narrow>
      {ended ? <Note kind="warn"><p>Your session has ended. What you have typed on the page is kept.</p></Note>
        : <p class="quiet">With an access key of this daemon (<code>--access-keys</code>). You can do what its role allows.</p>}
      <form class="stack" onSubmit={submit}>
        <label>Access key id<input name="id" required autocomplete="username" autocapitalize="off" spellcheck={false} autofocus /></label>
        <label>Secret access key<input name="secret" type="password" required autocomplete="current-password" /></label>
        <Failure error={error} />
        <div><button class="main" disabled={busy}>{busy ? 'Signing in…' : 'Sign in'}</button></div>
      </form>
    </Dialog>
  );
}

function Who({ session }) {
  const [error, setError] = useState(null);
  const attempt = (what) => async () => {
    setError(null);
    try { await what(); } catch (failed) { setError(failed); }
  };
  if (!session.keys) return <div class="who quiet">No access keys: the console only reads.</div>;
  if (!session.signed_in) return <div class="who quiet">Not signed in</div>;
  const role = session.role === 'none' ? 'some tables' : session.role;
  return (
    <div class="who">
      <div><span class="mono">{session.key_id}</span> <span class="quiet">({role})</span></div>
      {session.may_edit
        ? <button class="switch" type="button" role="switch" aria-checked={session.editing} onClick={attempt(() => setEditing(!session.editing))}><i />Editing</button>
        : <span class="quiet">This key may only read.</span>}
      <div><button type="button" class="link" onClick={attempt(signOut)}>Sign out</button></div>
      <Failure error={error} />
    </div>
  );
}

function Console() {
  const session = useSession();
  const route = useRoute();
  const [failed, setFailed] = useState(null);
  const main = useRef();
  const load = () => loadSession().then(() => setFailed(null), setFailed);
  useEffect(() => { load(); }, []);
  const [name = 'tables', ...rest] = route;
  const [, Screen] = screens[name] ?? screens.tables;
  const where = route.join('/');
  const before = useRef(where);
  const nav = useCurrentInView(`${name} ${Boolean(session)}`);
  useEffect(() => {
    if (before.current !== where) main.current?.focus();
    before.current = where;
  }, [where]);
  if (failed) return <main><Failure error={failed} again={load} /></main>;
  if (!session) return <main><Loading /></main>;
  const shown = session.signed_in || session.ended;
  const content = name === 'tables' && rest.length > 0 ? <Table key={rest[0]} name={rest[0]} tab={rest[1]} start={rest[2] === undefined ? undefined : rest.slice(2)} session={session} /> : <Screen session={session} />;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current.focus(); }}>Skip to the content</a>
      <header class="side">
        <a class="brand" href="#/tables"><span aria-hidden="true"><i /><i /><i /></span>itemdb</a>
        <nav aria-label="Screens" ref={nav}>
          <ul>{Object.entries(screens).map(([id, [title]]) => (
            <li key={id}><a href={linkTo(id)} aria-current={id === name ? 'page' : undefined}>{title}</a></li>
          ))}</ul>
        </nav>
        <Who session={session} />
      </header>
      <main ref={main} tabIndex={-1} id="main">{shown && content}</main>
      {!session.signed_in && <SignIn ended={session.ended} />}
    </div>
  );
}

render(<Console />, document.getElementById('page'));
