// One table: its definition and numbers, its items, its changes.
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { dynamo, itemdb, useLoad } from './api.js';
import { Facts, Failure, Figures, Loading, Note, ShortTable, Tag, Top, linkTo, useCurrentInView } from './ui.jsx';
import { Items } from './items.jsx';
import { Changes } from './changes.jsx';
import { PointInTime } from './backups.jsx';
import { Patterns } from './patterns.jsx';
import { keysOf } from './requests.js';
import { count, dateTime, plural, size } from './values.js';

export const plainStatus = (status) => (status ?? '').replace(/^TABLE_STATUS_/, '').toLowerCase();
export const keyText = (keys) => keys.map((key) => `${key.name} (${key.type})`).join(', ');
const projectionText = (projection) => {
  const type = (projection?.projection_type ?? '').replace(/^PROJECTION_TYPE_/, '');
  if (type === 'KEYS_ONLY') return 'keys only';
  if (type === 'INCLUDE') return `keys, ${(projection.non_key_attributes ?? []).join(', ')}`;
  return 'all attributes';
};

export function BuildProgress({ build }) {
  const phase = (build.phase ?? '').replace(/^PHASE_/, '').toLowerCase().replace('_', ' ');
  const total = Number(build.total ?? 0);
  const left = Number(build.seconds_left ?? 0);
  return (
    <span>
      {total > 0 && <progress max={total} value={Number(build.done ?? 0)} aria-label="Progress" />}{' '}
      {phase || 'waiting'}{total > 0 && `, ${count(build.done)} of ${count(total)}`}{left > 0 && `, about ${left} s left`}
      {build.last_error && <span class="bad"> {build.last_error}</span>}
    </span>
  );
}

function Overview({ table, again, session }) {
  const indexes = [
    ...(table.global_secondary_indexes ?? []).map((one) => ({ ...one, kind: 'global' })),
    ...(table.local_secondary_indexes ?? []).map((one) => ({ ...one, kind: 'local' })),
  ];
  const stream = (table.stream_view_type ?? '').replace(/^STREAM_VIEW_TYPE_/, '').replaceAll('_', ' ').toLowerCase();
  const { ttl, recovery } = table;
  const status = plainStatus(table.table_status);
  return (
    <div>
      <Figures of={[['Items', count(table.item_count)], ['Size', size(table.table_size_bytes)], ['Indexes', indexes.length]]} />
      <div class="cards">
        <section class="card"><h2>Definition</h2><Facts of={[
          ['Status', status === 'active' ? 'active' : <Tag kind="warn">{status}</Tag>],
          ['Partition key', keyText(keysOf(table, table.key_schema).filter((key) => !key.range))],
          ['Sort key', keyText(keysOf(table, table.key_schema).filter((key) => key.range)) || 'none'],
          ['Created', dateTime(Number(table.creation_time_ms ?? 0))],
          ['Deletion protection', table.deletion_protection_enabled ? 'on' : 'off'],
          (table.tags ?? []).length > 0 && ['Tags', table.tags.map((tag) => `${tag.key}=${tag.value ?? ''}`).join(', ')],
        ].filter(Boolean)} /></section>
        <section class="card"><h2>Features</h2><Facts of={[
          ['Stream', table.stream_enabled ? `on, ${stream}` : 'off'],
          ['Time to live', ttl.AttributeName ? `${ttl.TimeToLiveStatus === 'ENABLED' ? 'on' : ttl.TimeToLiveStatus.toLowerCase()}, attribute ${ttl.AttributeName}` : 'off'],
          ['Point-in-time recovery', recovery.PointInTimeRecoveryStatus === 'ENABLED' ? `on, ${plural(recovery.RecoveryPeriodInDays, 'day')}` : 'off'],
          ['Changes', <a href={linkTo('tables', table.table_name, 'changes')}>live</a>],
        ]} /></section>
      </div>
      <section class="card" style={{ marginTop: '16px' }}>
        <h2>Indexes</h2>
        {indexes.length === 0 ? <p class="quiet">None. A query can use the table's own key only; everything else is a scan.</p>
          : <ShortTable label="Indexes" keyOf={(row) => row.index_name} rows={indexes} columns={[
            { title: 'Index', cell: (row) => row.index_name },
            { title: 'Kind', cell: (row) => row.kind },
            { title: 'Keys', cell: (row) => keyText(keysOf(table, row.key_schema)) },
            { title: 'Holds', cell: (row) => projectionText(row.projection) },
            { title: 'Entries', number: true, cell: (row) => count(row.item_count) },
            { title: 'Size', number: true, cell: (row) => size(row.index_size_bytes) },
            { title: 'State', kind: 'wrap', cell: (row) => (row.build ? <BuildProgress build={row.build} /> : plainStatus(row.index_status) || 'active') },
          ]} />}
        {indexes.some((one) => Number(one.skipped_items ?? 0) > 0) && <Note kind="warn"><p>{indexes.filter((one) => Number(one.skipped_items ?? 0) > 0)
          .map((one) => `${one.index_name} leaves out ${plural(one.skipped_items, 'item')} whose key attribute has the wrong type, is empty or too long.`).join(' ')}</p></Note>}
      </section>
    </div>
  );
}

const tabs = [['overview', 'Overview'], ['items', 'Items'], ['changes', 'Changes'], ['patterns', 'Access patterns'], ['time', 'Point in time']];

export function Table({ name, tab = 'overview', start, session }) {
  const [building, setBuilding] = useState(false);
  const row = useCurrentInView(tab);
  const { value, error, again } = useLoad(async (options) => {
    const [{ table }, ttl, recovery] = await Promise.all([
      itemdb('Tables/DescribeTable', { table_name: name }, options),
      dynamo('DescribeTimeToLive', { TableName: name }, options),
      dynamo('DescribeContinuousBackups', { TableName: name }, options),
    ]);
    table.ttl = ttl.TimeToLiveDescription;
    table.recovery = recovery.ContinuousBackupsDescription.PointInTimeRecoveryDescription;
    setBuilding((table.global_secondary_indexes ?? []).some((one) => one.build));
    return table;
  }, [name, building], building ? 1000 : 10000);
  return (
    <div>
      <Top title={name} crumb={<a href="#/tables">Tables</a>} />
      <nav class="tabs" aria-label="Parts of the table" ref={row}>{tabs.map(([id, title]) => (
        <a key={id} href={linkTo('tables', name, id)} aria-current={id === tab ? 'page' : undefined}>{title}</a>
      ))}</nav>
      <Failure error={error} again={again} />
      {!value && !error && <Loading />}
      {value && tab === 'overview' && <Overview table={value} again={again} session={session} />}
      {value && tab === 'items' && <Items key={start?.join()} start={start} table={value} session={session} />}
      {value && tab === 'changes' && <Changes tableName={name} session={session} />}
      {value && tab === 'patterns' && <Patterns tableName={name} />}
      {value && tab === 'time' && <PointInTime table={value} session={session} />}
    </div>
  );
}
