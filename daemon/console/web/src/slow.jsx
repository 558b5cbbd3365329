import { h } from 'preact';
import { call, useLoad } from './api.js';
import { Empty, Failure, Loading, LongTable, Tag, Top } from './ui.jsx';
import { count, dateTime, duration, size } from './values.js';

const columns = [
  { title: 'Time', cell: (row) => dateTime(Date.parse(row.time)) },
  { title: 'Operation', cell: (row) => row.method.replace('itemdb.v1.', '') },
  { title: 'Table', cell: (row) => row.table },
  { title: 'Took', number: true, cell: (row) => duration(row.milliseconds / 1000) },
  { title: 'Items', number: true, cell: (row) => count(row.items) },
  { title: 'Request', number: true, cell: (row) => size(row.request_bytes) },
  { title: 'Reply', number: true, cell: (row) => size(row.reply_bytes) },
  { title: 'Outcome', cell: (row) => (row.code === 'OK' ? 'OK' : <Tag kind="warn">{row.code}</Tag>) },
];

export function Slow() {
  const { value, error, again } = useLoad((options) => call('console.ListSlowRequests', {}, options), [], 3000);
  const rows = value ? [...value.requests].reverse() : [];
  return (
    <div>
      <Top title="Slow requests" />
      <Failure error={error} again={again} />
      {!value && !error && <Loading />}
      {value && <p class="quiet">{value.threshold_ms > 0 ? `The newest 200 that took ${duration(value.threshold_ms / 1000)} or longer (--slow-request).` : 'The log of slow requests is off (--slow-request 0).'}</p>}
      {value && (rows.length === 0
        ? <div class="card"><Empty title="No request was slow"><p>Since itemd began to serve. A lower --slow-request shows more.</p></Empty></div>
        : <div class="card flush"><LongTable label="Slow requests" columns={columns} rows={rows} keyOf={(row, i) => i} /></div>)}
    </div>
  );
}
