// How tables were read and written since the start; one click runs a read of the same kind.
import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { itemdb, useLoad } from './api.js';
import { ModelFolder } from './models.jsx';
import { Empty, Failure, Loading, LongTable, TableLink, Tag, Top, linkTo } from './ui.jsx';
import { count, dateTime, duration } from './values.js';

// A read that examines much more than it returns, or everything.
function Advice({ row }) {
  const scanned = Number(row.items_scanned ?? 0);
  const returned = Number(row.items_returned ?? 0);
  if (row.operation === 'Scan') return <Tag kind="warn">all items</Tag>;
  if (scanned > 100 && returned * 5 < scanned && /Query/.test(row.operation)) return <Tag kind="warn">filter drops {Math.round(100 - (100 * returned) / scanned)} %</Tag>;
  if (Number(row.errors ?? 0) > 0) return <Tag>{count(row.errors)} failed</Tag>;
  return null;
}

// A read opens the query builder with its table or index.
function Operation({ row }) {
  const what = `${row.operation}${row.descending ? ' descending' : ''}${row.index_name ? ` of ${row.index_name}` : ''}`;
  return /Query|Scan/.test(row.operation) ? <a href={linkTo('tables', row.table_name, 'items', row.index_name || '-', row.key_condition || '-', row.filter || '-', row.descending ? 'descending' : 'ascending')}>{what}</a> : what;
}

export function Patterns({ tableName }) {
  const { value, error, again } = useLoad((options) => itemdb('Admin/GetAccessPatterns', { table_name: tableName }, options), [tableName], 5000);
  const [search, setSearch] = useState('');
  const rows = (value?.patterns ?? []).filter((one) => `${one.table_name} ${one.operation} ${one.index_name ?? ''} ${one.key_condition ?? ''} ${one.filter ?? ''}`.toLowerCase().includes(search.toLowerCase()));
  const columns = [
    ...(tableName ? [] : [{ title: 'Table', cell: (row) => <TableLink name={row.table_name} /> }]),
    { title: 'Operation', cell: (row) => <><Operation row={row} /> <Advice row={row} /></> },
    { title: 'Key condition', kind: 'cell', cell: (row) => <span title={row.key_condition}>{row.key_condition ?? ''}</span> },
    { title: 'Filter or condition', kind: 'cell', cell: (row) => <span title={row.filter}>{row.filter ?? ''}</span> },
    { title: 'Calls', number: true, cell: (row) => count(row.calls) },
    { title: 'Examined', number: true, cell: (row) => count(row.items_scanned) },
    { title: 'Returned', number: true, cell: (row) => count(row.items_returned) },
    { title: 'Median', number: true, cell: (row) => duration(Number(row.p50_us ?? 0) / 1e6) },
    { title: '99 %', number: true, cell: (row) => duration(Number(row.p99_us ?? 0) / 1e6) },
  ];
  const find = <label><span class="hidden">Find a pattern</span><input type="search" placeholder="Find" value={search} onInput={(event) => setSearch(event.target.value)} /></label>;
  return (
    <div>
      {tableName ? <div class="top"><div class="right">{find}</div></div> : <Top title="Access patterns">{find}</Top>}
      <Failure error={error} again={again} />
      {!value && !error && <Loading />}
      {value && (rows.length === 0
        ? <div class="card"><Empty title={search ? 'No pattern matches' : 'Nothing was read or written yet'}><p>Calls of the same operation, index and expressions are counted together, whatever their values, since {dateTime(Number(value.start_time_us ?? 0) / 1000)}.</p></Empty></div>
        : <div class="card flush"><LongTable label="Access patterns" columns={columns} rows={rows} keyOf={(row, i) => i} />
          <div class="foot"><span>Since {dateTime(Number(value.start_time_us ?? 0) / 1000)}{Number(value.other_calls ?? 0) > 0 && `; ${count(value.other_calls)} calls are of further patterns`}</span></div></div>)}
      {!tableName && <ModelFolder />}
    </div>
  );
}
