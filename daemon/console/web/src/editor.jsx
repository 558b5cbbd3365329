// One item: seen as typed or plain JSON, changed, added, deleted. A write has the condition that the item is as it was
// read; when somebody else has changed it meanwhile, both versions are shown and nothing is written.
import { Fragment, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { dynamo, setEditing } from './api.js';
import { CopyAs, Dialog, Failure, Loading, Note, Segments } from './ui.jsx';
import { addRequest, deleteRequest, itemAsCode, pick, placesOf, updateRequest } from './requests.js';
import { cellText, checkTyped, itemFromPlain, itemToPlain, sameValue, whyNotPlain } from './values.js';

const format = (item, form) => JSON.stringify(form === 'plain' ? itemToPlain(item) : item, null, 2);

// Throws an Error that says where the text is wrong.
function parse(text, form) {
  let read;
  try { read = JSON.parse(text); } catch (error) { throw new Error(`this is not JSON: ${error.message}`); }
  if (form === 'plain') {
    if (read === null || typeof read !== 'object' || Array.isArray(read)) throw new Error('an item is an object');
    return itemFromPlain(read);
  }
  checkTyped(read);
  return read;
}

function Differences({ mine, theirs }) {
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((name) => !sameValue(mine[name], theirs[name]));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Differences"><table class="diff"><thead><tr><th scope="col">Attribute</th><th scope="col">As you opened it</th><th scope="col">Now</th></tr></thead>
      <tbody>{names.map((name) => <tr key={name}><td class="mono">{name}</td><td class="mono">{cellText(mine[name]) || '—'}</td><td class="mono">{cellText(theirs[name]) || '—'}</td></tr>)}</tbody></table></div>
  );
}

const emptyItem = (keys) => Object.fromEntries(keys.map((key) => [key.name, { [key.type]: '' }]));

// `shown`: the item of the list, null to add one. `partial`: its key, when the list shows an index that may not hold
// all attributes; the item is read first.
export function ItemEditor({ tableName, keys, shown, partial, session, onClose, onWrote }) {
  const adding = shown === null;
  const [before, setBefore] = useState(adding ? emptyItem(keys) : partial ? null : shown);
  const [form, setForm] = useState('typed');
  const [text, setText] = useState(before ? format(before, 'typed') : '');
  const [error, setError] = useState(null);
  const [conflict, setConflict] = useState(null);
  const [asking, setAsking] = useState('');
  const [busy, setBusy] = useState(false);
  const [copying, setCopying] = useState(false);
  const key = adding ? null : pick(shown, keys);

  const load = async () => {
    const got = await dynamo('GetItem', { TableName: tableName, Key: key });
    if (!got.Item) { setConflict({ item: null }); return null; }
    setBefore(got.Item);
    setText(format(got.Item, form));
    setConflict(null);
    return got.Item;
  };
  useEffect(() => { if (partial) load().catch(setError); }, []);

  const changed = before !== null && text !== format(before, form);
  const mayWrite = session.editing;
  const plainProblem = before && whyNotPlain(before);

  const changeForm = (wanted) => {
    try {
      const item = parse(text, form);
      if (wanted === 'plain') {
        const why = whyNotPlain(item);
        if (why) throw new Error(`This item has no plain form: ${why}`);
      }
      setText(format(item, wanted));
      setForm(wanted);
      setError(null);
    } catch (problem) { setError(problem); }
  };

  const attempt = async (make, done) => {
    setBusy(true);
    setError(null);
    try {
      const request = make();
      if (request) {
        await dynamo(request.operation, request.body, { write: true });
        onWrote(done);
        return;
      }
    } catch (failed) {
      if (failed.type === 'ConditionalCheckFailedException') setConflict({ item: failed.body?.Item ?? null });
      else setError(failed);
    }
    setBusy(false);
  };

  const save = () => attempt(() => {
    const after = parse(text, form);
    for (const one of keys) {
      if (!(one.name in after)) throw new Error(`the key attribute ${one.name} is missing`);
      if (!adding && !sameValue(after[one.name], before[one.name])) throw new Error(`${one.name} is a key attribute and cannot be changed: add another item instead`);
    }
    if (adding) return { operation: 'PutItem', body: addRequest(tableName, keys, after) };
    const body = updateRequest(tableName, keys, before, after);
    if (!body) throw new Error('nothing was changed');
    return { operation: 'UpdateItem', body };
  }, adding ? 'The item was added.' : 'The item was saved.');
  const remove = () => attempt(() => ({ operation: 'DeleteItem', body: deleteRequest(tableName, keys, before) }), 'The item was deleted.');

  const close = () => (changed && mayWrite && asking !== 'close' ? setAsking('close') : onClose());
  const title = adding ? `Add an item to ${tableName}` : keys.map((one) => cellText(shown[one.name])).join(' · ');
  return (
    <Dialog title={title} onClose={close}>
      {!before && !error && !conflict && <Loading />}
      {before && <div class="stack">
        <div class="row middle">
          <Segments label="Form" of={[['typed', 'Typed JSON'], ['plain', 'Plain JSON']]} value={form} onChange={(wanted) => wanted !== form && changeForm(wanted)} />
          {!adding && <button type="button" onClick={() => setCopying(!copying)} aria-expanded={copying}>Copy as…</button>}
        </div>
        {copying && <CopyAs codes={itemAsCode(tableName, key, placesOf(session, location.hostname))} />}
        <label><span class="hidden">Item as {form} JSON</span>
          <textarea class="item" value={text} readOnly={!mayWrite} spellcheck={false} autocapitalize="off" onInput={(event) => { setText(event.target.value); setAsking(''); }} /></label>
      </div>}
      {form === 'typed' && plainProblem && mayWrite && <p class="quiet">Typed JSON only: {plainProblem}.</p>}
      <Failure error={error} />
      {conflict && <Note kind="warn">
        {conflict.item && adding && <><p><b>There is an item with this key already.</b> Nothing was written.</p></>}
        {conflict.item && !adding && <><p><b>The item was changed since you opened it.</b> Nothing was written. Keep your text and save again to replace the new values, or read the item of now.</p>
          <Differences mine={before} theirs={conflict.item} />
          <div class="row"><button type="button" onClick={() => { setBefore(conflict.item); setConflict(null); }}>Keep my text</button>
            <button type="button" onClick={() => { setBefore(conflict.item); setText(format(conflict.item, form)); setConflict(null); }}>Show the item of now</button></div></>}
        {!conflict.item && <p><b>The item was deleted since you opened it.</b> Nothing was written; your text is kept. Copy it and add it as an item if it is to be there again.</p>}
      </Note>}
      {asking === 'delete' && <Note kind="bad"><p>Delete this item? It is deleted only if it is as shown.</p>
        <div class="row"><button type="button" class="danger" disabled={busy} onClick={() => { setAsking(''); remove(); }}>Delete the item</button><button type="button" onClick={() => setAsking('')}>Keep it</button></div></Note>}
      {asking === 'close' && <Note kind="warn"><p>Your changes are not saved.</p>
        <div class="row"><button type="button" onClick={onClose}>Close without saving</button><button type="button" onClick={() => setAsking('')}>Go on editing</button></div></Note>}
      {before && <div class="row middle">
        {mayWrite && <button type="button" class="main" disabled={busy || (!changed && !adding)} onClick={save}>{busy ? 'Saving…' : adding ? 'Add' : 'Save'}</button>}
        {mayWrite && !adding && <button type="button" class="danger" disabled={busy || changed} onClick={() => setAsking('delete')}>Delete…</button>}
        {!mayWrite && session.keys && session.may_edit && <button type="button" onClick={() => setEditing(true).catch(setError)}>Turn on editing</button>}
        {!mayWrite && <span class="quiet">{!session.keys ? 'Read-only: itemd has no access keys.' : !session.may_edit ? 'Read-only: this key may not write.' : 'Read-only until you turn on editing.'}</span>}
      </div>}
    </Dialog>
  );
}
