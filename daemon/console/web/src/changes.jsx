// Changes as they are committed: of one table, or of all.
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { itemdb } from './api.js';
import { Dialog, Empty, Failure, LongTable, Tag, Top } from './ui.jsx';
import { cellText, count, dateTime, itemFromMessage, sameValue } from './values.js';

const maxKept = 5000;
const firstShown = 100;
const kinds = { INSERT: ['added', 'on'], MODIFY: ['changed', ''], REMOVE: ['deleted', 'bad'], CREATE_TABLE: ['table created', 'on'], DELETE_TABLE: ['table deleted', 'bad'], UPDATE_TABLE: ['table changed', ''] };
const kindOf = (row) => (row.kind ?? '').replace('CHANGE_KIND_', '');

// `tables`: names by storage id, as far as they are known.
function made(record, tables) {
  if (record.table) tables.set(record.table.storage_id, record.table.table_name);
  return {
    sequence: record.change_sequence, time: Number(record.commit_time_us ?? 0) / 1000, kind: kindOf(record), expired: record.expired,
    storageId: record.table_storage_id, key: itemFromMessage(record.key), before: itemFromMessage(record.old_image), after: itemFromMessage(record.new_image), table: record.table,
  };
}

function Difference({ row }) {
  const names = [...new Set([...Object.keys(row.before), ...Object.keys(row.after)])];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Attributes"><table class="diff">
      <thead><tr><th scope="col">Attribute</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
      <tbody>{names.map((name) => {
        const same = sameValue(row.before[name], row.after[name]);
        return <tr key={name}><td class="mono">{name}</td><td class={`mono ${same ? 'quiet' : ''}`}>{cellText(row.before[name]) || '—'}</td><td class={`mono ${same ? 'quiet' : ''}`}>{cellText(row.after[name]) || '—'}</td></tr>;
      })}</tbody></table></div>
  );
}

export function Changes({ tableName }) {
  const [rows, setRows] = useState([]);
  const [at, setAt] = useState(null);
  const [paused, setPaused] = useState(false);
  const [error, setError] = useState(null);
  const [turn, setTurn] = useState(0);
  const [open, setOpen] = useState(null);
  const tables = useRef(new Map());
  const last = useRef(null);
  useEffect(() => {
    if (paused) return undefined;
    const abort = new AbortController();
    const go = async () => {
      let after = last.current;
      try {
        if (after === null) {
          const begun = await itemdb('Changes/Watch', { table_name: tableName, progress_interval_ms: 10000 }, { signal: abort.signal });
          const oldest = Number(begun.oldest_sequence ?? 1) - 1;
          after = String(Math.max(0, oldest, Number(begun.last_sequence ?? 0) - (tableName ? 10000 : firstShown)));
          if (!tableName) {
            const status = await itemdb('Admin/GetStatus', { with_tables: true }, { signal: abort.signal }).catch(() => ({}));
            for (const one of (status.tables ?? []).slice(0, 200)) {
              const described = await itemdb('Tables/DescribeTable', { table_name: one.table_name }, { signal: abort.signal }).catch(() => null);
              if (described) tables.current.set(described.table.storage_id, one.table_name);
            }
          }
        }
        for (;;) {
          const page = await itemdb('Changes/Watch', { table_name: tableName, after_sequence: after, progress_interval_ms: 10000 }, { signal: abort.signal, background: true });
          after = page.change_sequence ?? after;
          last.current = after;
          setAt(after);
          setError(null);
          const fresh = (page.records ?? []).map((one) => made(one, tables.current)).reverse();
          if (fresh.length > 0) setRows((old) => [...fresh, ...old].slice(0, maxKept));
        }
      } catch (failed) {
        if (failed.name !== 'AbortError') setError(failed);
      }
    };
    go();
    return () => abort.abort();
  }, [tableName, paused, turn]);
  const columns = [
    { title: 'Time', width: 21, cell: (row) => dateTime(row.time) },
    { title: 'Change', width: 11, cell: (row) => <button type="button" class="link" onClick={() => setOpen(row)}>{row.sequence}</button> },
    ...(tableName ? [] : [{ title: 'Table', width: 19, cell: (row) => row.table?.table_name ?? tables.current.get(row.storageId) ?? '' }]),
    { title: 'What', width: 17, cell: (row) => <Tag kind={(kinds[row.kind] ?? ['', ''])[1]}>{row.expired ? 'expired' : (kinds[row.kind] ?? [row.kind])[0]}</Tag> },
    { title: 'Item', kind: 'cell', width: 26, cell: (row) => Object.values(row.key).map(cellText).join(' · ') },
    { title: 'What differs', kind: 'cell', cell: (row) => (row.kind === 'MODIFY' ? [...new Set([...Object.keys(row.before), ...Object.keys(row.after)])].filter((name) => !sameValue(row.before[name], row.after[name])).join(', ') : '') },
  ];
  const pause = <button type="button" onClick={() => setPaused(!paused)}>{paused ? 'Go on' : 'Pause'}</button>;
  return (
    <div>
      {tableName ? <div class="top"><div class="right">{pause}</div></div> : <Top title="Live changes">{pause}</Top>}
      <Failure error={error} again={() => { last.current = null; setRows([]); setTurn(turn + 1); }} />
      {rows.length === 0 && !error
        ? <div class="card"><Empty title={paused ? 'Paused' : 'Waiting for a change'}><p>Every write appears here when it is committed{at !== null && `, after change ${count(at)}`}.</p></Empty></div>
        : <div class="card flush"><LongTable label="Changes" columns={columns} rows={rows} keyOf={(row) => row.sequence} />
          <div class="foot"><span>{paused ? 'Paused' : 'Live'}; up to change {at === null ? '…' : count(at)}. The newest {count(maxKept)} are kept on this page.</span></div></div>}
      {open && <Dialog title={`Change ${open.sequence}`} onClose={() => setOpen(null)}>
        <p class="quiet">{dateTime(open.time)}, {(kinds[open.kind] ?? [open.kind])[0]} {Object.entries(open.key).map(([name, value]) => `${name} = ${cellText(value)}`).join(', ')}</p>
        {open.table ? <pre class="code" tabIndex={0}>{JSON.stringify(open.table, null, 2)}</pre> : <Difference row={open} />}
      </Dialog>}
    </div>
  );
}
