// Backups of tables and of the database, and what a table would be at an earlier time.
import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { dynamo, itemdb, useLoad } from './api.js';
import { Empty, Facts, Failure, Loading, Note, ShortTable, TableLink, Tag, Top } from './ui.jsx';
import { cellText, count, dateTime, itemFromMessage, plural, size } from './values.js';

const byTime = (a, b) => b.BackupCreationDateTime - a.BackupCreationDateTime;

async function listBackups(options, tableName) {
  const found = [];
  for (let after; ;) {
    const page = await dynamo('ListBackups', { TableName: tableName, ExclusiveStartBackupArn: after, BackupType: 'ALL' }, options);
    found.push(...page.BackupSummaries);
    after = page.LastEvaluatedBackupArn;
    if (!after || found.length >= 1000) return found.sort(byTime);
  }
}

export function Backups() {
  const tables = useLoad((options) => listBackups(options), [], 5000);
  const whole = useLoad(async (options) => ({ list: await itemdb('Admin/ListDatabaseBackups', {}, options), status: await itemdb('Admin/GetStatus', {}, options) }), [], 5000);
  const list = whole.value?.list;
  const status = whole.value?.status;
  return (
    <div>
      <Top title="Backups" />
      <section class="card"><h2>Of the whole database</h2>
        <Failure error={whole.error} again={whole.again} />
        {!whole.value && !whole.error && <Loading />}
        {status && <Facts of={[
          ['Directory', list.directory],
          ['Schedule', status.scheduled_backups ? `${status.scheduled_backups.schedule}, next ${dateTime(Number(status.scheduled_backups.next_time_us ?? 0) / 1000)}` : 'none (--backup-schedule)'],
          ['Proven by restoring', status.proven_backup ? `backup ${status.proven_backup.backup_id}, ${dateTime(Number(status.proven_backup.proven_time_us) / 1000)}` : 'none yet (itemctl backup verify --restore)'],
          ['Archive of every commit', status.archive ? `${status.archive.directory}, from ${dateTime(Number(status.archive.oldest_time_us ?? 0) / 1000)}` : 'off (--archive-directory)'],
          status.archive?.error && ['Archive', <span class="bad">{status.archive.error}</span>],
          status.scheduled_backups?.last_error && ['Last attempt', <span class="bad">{status.scheduled_backups.last_error}</span>],
          status.scheduled_backups?.last_proof_error && ['Last proof', <span class="bad">{status.scheduled_backups.last_proof_error}</span>],
        ].filter(Boolean)} />}
        {list && ((list.backups ?? []).length === 0 ? <Empty title="No backup of the database"><p>Make one with <code>itemctl backup create</code>, or regularly with --backup-schedule.</p></Empty>
          : <ShortTable label="Backups of the database" rows={[...list.backups].reverse()} keyOf={(row) => row.backup_id} columns={[
            { title: 'Backup', cell: (row) => row.backup_id }, { title: 'Begun', cell: (row) => dateTime(Number(row.begin_time_us) / 1000) },
            { title: 'Tables', number: true, cell: (row) => count(row.table_count) }, { title: 'Size', number: true, cell: (row) => size(row.size_bytes) },
            { title: 'Up to change', number: true, cell: (row) => count(row.change_sequence) }, { title: 'Remark', unseen: true, cell: (row) => row.for_archive && <Tag>of the archive</Tag> }]} />)}
        {(list?.damaged_backup_ids ?? []).length > 0 && <Note kind="bad"><p>Damaged: backup {list.damaged_backup_ids.join(', ')}.</p></Note>}
      </section>
      <section class="card"><h2>Of single tables</h2>
        <Failure error={tables.error} again={tables.again} />
        {!tables.value && !tables.error && <Loading />}
        {tables.value && (tables.value.length === 0 ? <Empty title="No table has a backup"><p>Open a table, then “Point in time”, to make one.</p></Empty> : <TableBackups rows={tables.value} />)}
      </section>
    </div>
  );
}

const TableBackups = ({ rows }) => (
  <ShortTable label="Backups of tables" rows={rows} keyOf={(row) => row.BackupArn} columns={[
    { title: 'Table', cell: (row) => <TableLink name={row.TableName} to={['time']} text={row.TableName} /> }, { title: 'Backup', cell: (row) => row.BackupName },
    { title: 'Made', cell: (row) => dateTime(row.BackupCreationDateTime * 1000) }, { title: 'Size', number: true, cell: (row) => size(row.BackupSizeBytes) },
    { title: 'State', cell: (row) => (row.BackupStatus === 'AVAILABLE' ? 'available' : <Tag kind="warn">{row.BackupStatus.toLowerCase()}</Tag>) }]} />
);

// The first change whose commit was later than `time`; null: there is none. Changes are numbered in the order of
// their times.
async function firstChangeAfter(time, options) {
  const { change_sequence: end = '0', oldest_sequence: oldest = '1' } = await itemdb('Changes/ReadChanges', { after_sequence: '0', limit: 1 }, options)
    .catch(async () => itemdb('Changes/Watch', {}, options).then((one) => ({ change_sequence: one.last_sequence, oldest_sequence: one.oldest_sequence })));
  let low = Number(oldest);
  let high = Number(end) + 1;
  const begin = low;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { records = [] } = await itemdb('Changes/ReadChanges', { after_sequence: String(middle - 1), limit: 1 }, options);
    if (records.length > 0 && Number(records[0].commit_time_us) / 1000 <= time) low = Number(records[records.length - 1].change_sequence) + 1;
    else high = middle;
  }
  return low > Number(end) ? null : { from: low, to: Number(end), isOldest: low === begin };
}

const outcomes = { PUT: 'would be as before', DELETED: 'would be gone', UNCHANGED: 'the same', CHANGED_SINCE: 'changed since' };

// What differs between a table now and at `time`: read from the change log, by an undo that writes nothing.
function Difference({ tableName, time }) {
  const [state, setState] = useState({});
  const compare = async () => {
    setState({ busy: true });
    try {
      const found = await firstChangeAfter(time);
      if (found === null) { setState({ done: { items: [] } }); return; }
      // The stretch must not begin or end inside of a transaction.
      const done = await itemdb('Changes/UndoChanges', { table_name: tableName, from_sequence: String(found.from), to_sequence: String(found.to), dry_run: true }, { write: true });
      setState({ done, found });
    } catch (error) { setState({ error }); }
  };
  const { busy, done, found, error } = state;
  const items = (done?.items ?? []).map((one) => ({ key: itemFromMessage(one.key), outcome: (one.outcome ?? '').replace('UNDO_OUTCOME_', '') })).filter((one) => one.outcome !== 'UNCHANGED');
  return (
    <div class="stack">
      <div class="row middle"><button type="button" disabled={busy} onClick={compare}>{busy ? 'Comparing…' : 'Show what differs'}</button></div>
      <Failure error={error} />
      {found?.isOldest && <Note kind="warn"><p>The change log does not go back further: earlier changes are not in this comparison.</p></Note>}
      {done && (items.length === 0 ? <Note kind="good"><p>The table was the same at that time.</p></Note>
        : <div><p>{plural(items.length, 'item')}{done.last_evaluated_key && ', and more,'} of that time would differ from now:</p>
          <ShortTable label="Items that differ" rows={items.slice(0, 200)} columns={[
            { title: 'Item', kind: 'cell', cell: (row) => Object.values(row.key).map(cellText).join(' · ') }, { title: 'At that time', cell: (row) => outcomes[row.outcome] ?? row.outcome }]} /></div>)}
    </div>
  );
}

export function PointInTime({ table, session }) {
  const name = table.table_name;
  const recovery = useLoad(async (options) => {
    const { ContinuousBackupsDescription: found } = await dynamo('DescribeContinuousBackups', { TableName: name }, options);
    return { point: found.PointInTimeRecoveryDescription, backups: await listBackups(options, name) };
  }, [name], 5000);
  const [share, setShare] = useState(1000);
  const [target, setTarget] = useState(`${name}-restored`);
  const [state, setState] = useState({});
  const { value, error, again } = recovery;
  const on = value?.point.PointInTimeRecoveryStatus === 'ENABLED';
  const from = (value?.point.EarliestRestorableDateTime ?? 0) * 1000;
  const to = (value?.point.LatestRestorableDateTime ?? 0) * 1000;
  const time = from + ((to - from) * share) / 1000;
  const attempt = (what, told) => async () => {
    setState({ busy: true });
    try { await what(); setState({ told }); again(); } catch (failed) { setState({ error: failed }); }
  };
  const write = { write: true };
  // The earliest time moves on, so the ends of the slider are those of now.
  const restore = async () => {
    const { ContinuousBackupsDescription: now } = await dynamo('DescribeContinuousBackups', { TableName: name });
    const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } = now.PointInTimeRecoveryDescription;
    const when = share === 1000 ? { UseLatestRestorableTime: true }
      : { RestoreDateTime: share === 0 ? earliest : Math.min(latest, Math.max(earliest, Math.round(time) / 1000)) };
    await dynamo('RestoreTableToPointInTime', { SourceTableName: name, TargetTableName: target, ...when }, write);
  };
  return (
    <div>
      <Failure error={error} again={again} />
      <Failure error={state.error} />
      {state.told && <Note kind="good"><p>{state.told}</p></Note>}
      {!value && !error && <Loading />}
      {value && !session.editing && <p class="quiet">{session.keys ? 'Turn on editing to change or restore something.' : 'Read-only: itemd has no access keys.'}</p>}
      {value && <section class="card stack"><h2>Point-in-time recovery</h2>
        {!on && <p>Off. While it is on, the table can be restored to any second of the last {value.point.RecoveryPeriodInDays ?? 35} days.</p>}
        {!on && <div><button type="button" disabled={!session.editing || state.busy} onClick={attempt(() => dynamo('UpdateContinuousBackups', { TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }, write), 'Point-in-time recovery is on.')}>Turn on</button></div>}
        {on && <>
          <label>Time: {dateTime(time)}<input type="range" min="0" max="1000" value={share} onInput={(event) => setShare(Number(event.target.value))} aria-valuetext={dateTime(time)} /></label>
          <div class="row quiet" style={{ justifyContent: 'space-between' }}><span>{dateTime(from)}</span><span>{dateTime(to)}</span></div>
          {session.editing && <Difference key={share} tableName={name} time={time} />}
          <div class="row"><label class="grow">Restore into a new table<input value={target} spellcheck={false} onInput={(event) => setTarget(event.target.value)} /></label>
            <button type="button" class="main" disabled={!session.editing || state.busy || target === ''} onClick={attempt(restore, `${target} is being restored.`)}>Restore</button></div>
        </>}
      </section>}
      {value && <section class="card stack"><h2>Backups of this table</h2>
        {value.backups.length === 0 ? <Empty title="No backup yet"><p>A backup holds the table as it is at one moment.</p></Empty> : <TableBackups rows={value.backups} />}
        <div><button type="button" disabled={!session.editing || state.busy} onClick={attempt(() => dynamo('CreateBackup', { TableName: name, BackupName: `console-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')}` }, write), 'A backup is being made.')}>Back up now</button></div>
      </section>}
    </div>
  );
}
