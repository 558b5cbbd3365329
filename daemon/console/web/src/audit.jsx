import { h } from 'preact';
import { call, useLoad } from './api.js';
import { Empty, Failure, Loading, LongTable, Note, Tag, Top } from './ui.jsx';
import { dateTime } from './values.js';

const columns = [
  { title: 'Time', cell: (row) => dateTime(Date.parse(row.time)) },
  { title: 'Key', cell: (row) => <span class="mono">{row.key_id || '—'}</span> },
  { title: 'Operation', cell: (row) => row.operation.replace('itemdb.v1.', '') },
  { title: 'Table', cell: (row) => row.table },
  { title: 'From', cell: (row) => <span class="mono">{row.peer}</span> },
  { title: 'Outcome', cell: (row) => (row.outcome === 'OK' ? 'OK' : <Tag kind="bad">{row.outcome}</Tag>) },
  { title: 'Reason', cell: (row) => row.reason },
];

export function Audit() {
  const { value, error, again } = useLoad((options) => call('console.ListAuditedCalls', {}, options), [], 3000);
  const rows = value ? [...value.calls].reverse() : [];
  return (
    <div>
      <Top title="Audit" />
      <Failure error={error} again={again} />
      {!value && !error && <Loading />}
      {value && <p class="quiet">The newest calls since itemd began to serve: those that were refused, and those that need the role admin. The whole record is the audit log.</p>}
      {value && !value.has_file && <Note><p>There is no audit log (--audit-log), so only sign-ins and refused calls are shown.</p></Note>}
      {value && (rows.length === 0
        ? <div class="card"><Empty title="Nothing was recorded yet"><p>A call with a wrong key, or one that changes a table, appears here.</p></Empty></div>
        : <div class="card flush"><LongTable label="Audited calls" columns={columns} rows={rows} keyOf={(row, i) => i} /></div>)}
    </div>
  );
}
