// The items of a table: a query builder, what was read for it and why that is slow, pages, and the editor.
import { Fragment, h } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { itemdb } from './api.js';
import { CopyAs, Dialog, Empty, Failure, LongTable, Note } from './ui.jsx';
import { ItemEditor } from './editor.jsx';
import { FieldError, filterOperators, formOfPattern, isActive, keyOperators, keyTypes, pick, placesOf, readAsCode, readRequest, sourcesOf, spelled } from './requests.js';
import { cellText, count, duration, itemFromMessage, plural, size, toMessage } from './values.js';

const messages = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toMessage(value)]));

async function readPage(read, after, signal) {
  const begun = performance.now();
  const reply = await itemdb(`Data/${read.operation}`, {
    table_name: read.tableName, index_name: read.index || undefined, limit: read.limit, explain: true,
    key_condition_expression: read.keyCondition || undefined, filter_expression: read.filter || undefined,
    expression_attribute_names: read.names, expression_attribute_values: messages(read.values),
    ...(read.operation === 'Query' ? { scan_index_forward: !read.descending } : {}), exclusive_start_key: after ?? undefined,
  }, { signal });
  return {
    items: (reply.items ?? []).map(itemFromMessage), after: reply.last_evaluated_key ?? null, examined: Number(reply.scanned_count ?? 0),
    plan: reply.plan ?? {}, seconds: (performance.now() - begun) / 1000,
  };
}

// Why a read takes long, and what would help. Empty: it does not.
function whySlow(read, pages, sources) {
  const why = [];
  const examined = pages.reduce((sum, page) => sum + page.examined, 0);
  const returned = pages.reduce((sum, page) => sum + page.items.length, 0);
  const fetched = pages.reduce((sum, page) => sum + Number(page.plan.base_items_read ?? 0), 0);
  const source = sources.find((one) => one.index === read.index);
  if (read.operation === 'Scan') {
    const of = plural(source.items ?? 0, read.index ? 'entry' : 'item', read.index ? 'entries' : 'items');
    why.push(`A scan reads everything, ${of} in all. With a value for ${source.keys.filter((key) => !key.range).map((key) => key.name).join(' and ')} only one item collection is read.`);
    const filtered = Object.values(read.names);
    const helping = sources.filter((one) => one.index !== read.index && one.keys.length > 0 && filtered.includes(one.keys[0].name));
    for (const one of helping) why.push(`${one.index ? `The index ${one.index}` : 'The table itself'} has ${one.keys[0].name} as partition key: choose it above.`);
    if (read.filter && helping.length === 0) why.push('No index begins with an attribute of the filter. An index on it would read only what matches.');
  }
  if (read.filter && examined > 20 && returned * 5 < examined) {
    why.push(`The filter has removed ${count(examined - returned)} of ${plural(examined, 'item')}: they were read before it could look at them. Put the attribute into a key condition.`);
  }
  if (fetched > 0) why.push(`${plural(fetched, 'item')} were read from the table too, because the local index does not hold all attributes.`);
  return why;
}

function Plan({ read, pages, sources }) {
  const examined = pages.reduce((sum, page) => sum + page.examined, 0);
  const returned = pages.reduce((sum, page) => sum + page.items.length, 0);
  const bytes = pages.reduce((sum, page) => sum + Number(page.plan.bytes_read ?? 0), 0);
  const seconds = pages.reduce((sum, page) => sum + page.seconds, 0);
  const { plan } = pages[pages.length - 1];
  const why = whySlow(read, pages, sources);
  return (
    <Note kind={why.length > 0 ? 'warn' : 'good'}>
      <p><b>{read.operation}</b> of {plan.index_name ? <>the index <b>{plan.index_name}</b></> : 'the table'}{plan.key_range && <>, range <code>{plan.key_range}</code></>}
        {read.descending && ', from the end'}. Examined <b>{count(examined)}</b> ({size(bytes)}), returned <b>{count(returned)}</b>, in {duration(seconds)}.</p>
      {why.map((one) => <p key={one}>{one}</p>)}
    </Note>
  );
}

const emptyForm = { index: '', keys: {}, filters: [], descending: false, limit: '100' };
let kept = {};

// `start`: of an access pattern, the index to read ("-" is the table), its key condition, its filter, and "descending".
export function Items({ table, session, start }) {
  const name = table.table_name;
  const sources = sourcesOf(table);
  const tableKeys = sources[0].keys;
  const [form, setForm] = useState(() => (start === undefined ? kept[name] : undefined) ?? { ...emptyForm, ...(start && { index: start[0] === '-' ? '' : start[0], ...formOfPattern(start[1], start[2]), descending: start[3] === 'descending' }) });
  const [result, setResult] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [copying, setCopying] = useState(null);
  const [open, setOpen] = useState(null);
  const [told, setTold] = useState('');
  const abort = useRef(null);
  const source = sources.find((one) => one.index === form.index) ?? sources[0];
  kept = { [name]: form };
  // A pattern is opened to be filled in.
  useEffect(() => { if (start === undefined) run(); return () => abort.current?.abort(); }, []);

  const change = (part) => setForm((old) => ({ ...old, ...part }));
  const changeKey = (key, part) => setForm((old) => ({ ...old, keys: { ...old.keys, [key]: { op: 'any', value: '', value2: '', ...old.keys[key], ...part } } }));
  const changeFilter = (at, part) => change({ filters: form.filters.map((one, i) => (i === at ? { ...one, ...part } : one)) });

  const planned = useMemo(() => {
    try { return { read: readRequest(name, source, form) }; } catch (problem) {
      if (problem instanceof FieldError) return { problem };
      throw problem;
    }
  }, [form, table]);

  async function run(more = false) {
    let read = result?.read;
    if (!more) {
      try { read = readRequest(name, source, form); } catch (problem) { setError(problem); return; }
    }
    abort.current?.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    setBusy(true);
    setError(null);
    try {
      const page = await readPage(read, more ? result.after : null, signal);
      const pages = more ? [...result.pages, page] : [page];
      setResult({ read, pages, after: page.after, items: more ? [...result.items, ...page.items] : page.items });
    } catch (failed) {
      if (failed.name === 'AbortError') return;
      setError(failed);
    }
    setBusy(false);
  }

  // Key attributes first, then those that most items of the first hundred have.
  const columns = useMemo(() => {
    if (!result) return [];
    const first = [...new Set([...tableKeys, ...source.keys].map((key) => key.name))];
    const seen = new Map();
    for (const item of result.items.slice(0, 100)) for (const one of Object.keys(item)) if (!first.includes(one)) seen.set(one, (seen.get(one) ?? 0) + 1);
    const others = [...seen].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 16).map(([one]) => one);
    const all = [...first, ...others];
    const sample = result.items.slice(0, 100);
    return all.map((one, i) => ({
      title: one, kind: 'cell',
      // In the smaller letters of cells; the last column takes what is left.
      width: i === all.length - 1 && all.length > 1 ? undefined : Math.min(44, Math.max(one.length + 4, ...sample.map((item) => cellText(item[one]).length + 4))),
      cell: (row) => (i === 0 ? <button type="button" class="link" onClick={() => setOpen({ item: row })}>{cellText(row[one]) || '(empty)'}</button> : cellText(row[one])),
    }));
  }, [result]);

  const wrote = (what) => { setOpen(null); setTold(what); run(); };
  const mayWrite = session.editing;
  return (
    <div>
      <form class="card stack" onSubmit={(event) => { event.preventDefault(); setTold(''); run(); }}>
        <div class="row">
          <label class="grow">Read from<select value={form.index} onChange={(event) => change({ index: event.target.value, keys: {} })}>
            {sources.map((one) => <option key={one.index} value={one.index} disabled={!isActive(one)}>
              {one.index ? `index ${one.index}` : 'the table'}: {one.keys.map((key) => key.name).join(', ')}{isActive(one) ? '' : ' (being created)'}</option>)}
          </select></label>
          <label class="fixed">Order<select value={form.descending ? 'down' : 'up'} onChange={(event) => change({ descending: event.target.value === 'down' })}>
            <option value="up">ascending</option><option value="down">descending</option></select></label>
          <label class="fixed">Items a page<select value={form.limit} onChange={(event) => change({ limit: event.target.value })}>
            {['25', '100', '250', '500'].map((one) => <option key={one}>{one}</option>)}</select></label>
        </div>
        {source.keys.map((key) => {
          const { op = 'any', value = '', value2 = '' } = form.keys[key.name] ?? {};
          return (
            <div class="line" key={`${form.index} ${key.name}`}>
              <div class="name">{key.name}<span class="quiet">{key.range ? 'sort key' : 'partition key'}</span></div>
              {key.range
                ? <label><span class="hidden">Operator for {key.name}</span><select value={op} onChange={(event) => changeKey(key.name, { op: event.target.value })}>
                  {Object.entries(keyOperators).filter(([id]) => id !== 'begins' || key.type !== 'N').map(([id, text]) => <option key={id} value={id}>{text}</option>)}</select></label>
                : <div class="quiet">=</div>}
              <div class="value row">
                <label class="grow"><span class="hidden">Value of {key.name}</span><input value={value} placeholder={keyTypes[key.type]} disabled={key.range && op === 'any'} spellcheck={false}
                  autocapitalize="off" onInput={(event) => changeKey(key.name, { value: event.target.value })} /></label>
                {op === 'between' && <label class="grow"><span class="hidden">Upper value of {key.name}</span><input value={value2} placeholder="and" spellcheck={false} onInput={(event) => changeKey(key.name, { value2: event.target.value })} /></label>}
              </div>
            </div>
          );
        })}
        {form.filters.map((one, i) => (
          <div class="line" key={i}>
            <label><span class="hidden">Attribute of filter {i + 1}</span><input value={one.name} placeholder="attribute" spellcheck={false} autocapitalize="off" onInput={(event) => changeFilter(i, { name: event.target.value })} /></label>
            <label><span class="hidden">Operator of filter {i + 1}</span><select value={one.op} onChange={(event) => changeFilter(i, { op: event.target.value })}>
              {Object.entries(filterOperators).map(([id, text]) => <option key={id} value={id}>{text}</option>)}</select></label>
            <div class="value row">
              {one.op !== 'exists' && one.op !== 'missing' && <>
                <label style={{ width: '104px' }}><span class="hidden">Type of filter {i + 1}</span><select value={one.type} onChange={(event) => changeFilter(i, { type: event.target.value })}>
                  <option value="S">text</option><option value="N">number</option><option value="BOOL">true/false</option><option value="NULL">null</option></select></label>
                {one.type !== 'NULL' && <label class="grow"><span class="hidden">Value of filter {i + 1}</span><input value={one.value} placeholder={one.type === 'BOOL' ? 'true or false' : 'value'} spellcheck={false}
                  onInput={(event) => changeFilter(i, { value: event.target.value })} /></label>}
              </>}
              <button type="button" onClick={() => change({ filters: form.filters.filter((_, at) => at !== i) })}>Remove<span class="hidden"> filter {i + 1}</span></button>
            </div>
          </div>
        ))}
        <div class="row middle">
          <button class="main" disabled={busy}>{busy ? 'Reading…' : 'Run'}</button>
          <button type="button" onClick={() => change({ filters: [...form.filters, { name: '', op: 'eq', type: 'S', value: '' }] })}>Add a filter</button>
          <button type="button" disabled={!planned.read} onClick={() => setCopying(readAsCode(planned.read, placesOf(session, location.hostname)))}>Copy as…</button>
          {mayWrite && <button type="button" onClick={() => setOpen({ item: null })}>Add an item</button>}
          <span class="quiet">{planned.read && (planned.read.operation === 'Scan' ? 'Scan: reads everything' : <>Query: <code>{spelled(planned.read.keyCondition, planned.read)}</code></>)}
            {planned.problem && planned.problem.message}</span>
        </div>
      </form>
      {told && <Note kind="good"><p>{told}</p></Note>}
      <Failure error={error} />
      {result && <Plan read={result.read} pages={result.pages} sources={sources} />}
      {result && (result.items.length === 0
        ? <div class="card"><Empty title={result.after ? 'Nothing on this page' : 'No item matches'}>
          <p>{result.after ? 'The filter has removed everything that was read so far. Go on reading.' : result.read.filter || result.read.operation === 'Query' ? 'Change the key or the filter above.' : mayWrite ? 'The table is empty. Add an item above.' : 'The table is empty.'}</p>
          {result.after && <button type="button" onClick={() => run(true)} disabled={busy}>Read on</button>}</Empty></div>
        : <div class="card flush">
          <LongTable label="Items" columns={columns} rows={result.items} keyOf={(row, i) => i} />
          <div class="foot"><span>{plural(result.items.length, 'item')}{result.after ? ', more may follow' : ', that is all'}</span>
            {result.after && <button type="button" class="small" onClick={() => run(true)} disabled={busy}>{busy ? 'Reading…' : 'Read on'}</button>}</div>
        </div>)}
      {copying && <Dialog title="Copy as" onClose={() => setCopying(null)}><CopyAs codes={copying} /></Dialog>}
      {open && <ItemEditor tableName={name} keys={tableKeys} shown={open.item} partial={open.item && form.index !== '' ? pick(open.item, tableKeys) : null} session={session}
        onClose={() => setOpen(null)} onWrote={wrote} />}
    </div>
  );
}
