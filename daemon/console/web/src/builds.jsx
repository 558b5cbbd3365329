// Indexes that are being created, and whether everything that is stored agrees.
import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { itemdb, useLoad } from './api.js';
import { Empty, Facts, Failure, Loading, Note, ShortTable, TableLink, Top } from './ui.jsx';
import { BuildProgress } from './table.jsx';
import { count, dateTime, plural, size } from './values.js';

// Tables are asked one by one, so a database of very many is asked in part.
const maxAsked = 500;

async function load(options) {
  const status = await itemdb('Admin/GetStatus', { with_tables: true }, options);
  const builds = [];
  const withIndexes = (status.tables ?? []).filter((one) => one.index_count > 0);
  for (const { table_name: name } of withIndexes.slice(0, maxAsked)) {
    const described = await itemdb('Tables/DescribeTable', { table_name: name }, options).catch(() => null);
    for (const index of described?.table.global_secondary_indexes ?? []) if (index.build) builds.push({ table: name, index: index.index_name, build: index.build });
  }
  const damage = Number(status.damage?.files ?? 0) > 0 ? await itemdb('Admin/ListDamage', {}, options) : null;
  return { status, builds, damage, left: Math.max(0, withIndexes.length - maxAsked) };
}

const at = (us) => (Number(us ?? 0) > 0 ? dateTime(Number(us) / 1000) : 'not yet');

function Check({ session }) {
  const [state, setState] = useState({});
  const run = async () => {
    setState({ busy: true });
    try { setState({ done: await itemdb('Admin/CheckDatabase', {}, { write: true }) }); } catch (error) { setState({ error }); }
  };
  const { busy, done, error } = state;
  return (
    <section class="card">
      <h2>Check of everything</h2>
      <p class="quiet">Reads the whole database in one state and compares items, index entries, sizes and the change log. Reads and writes go on.</p>
      <Failure error={error} />
      {done && <Note kind={Number(done.finding_count ?? 0) > 0 ? 'bad' : 'good'}>
        <p>{Number(done.finding_count ?? 0) === 0 ? 'Everything agrees.' : `${plural(done.finding_count, 'finding')}.`} {count(done.items_checked)} items, {count(done.index_entries_checked)} index entries and {count(done.change_records_checked)} change records were checked, as of change {count(done.change_sequence)}.</p>
        {(done.findings ?? []).map((one) => <p key={one}>{one}</p>)}</Note>}
      <div class="row middle"><button type="button" disabled={busy || !session.editing} onClick={run}>{busy ? 'Checking…' : 'Check now'}</button>
        {!session.editing && <span class="quiet">{session.keys ? 'Needs the role admin and editing turned on.' : <>Needs an access key; <code>itemctl check</code> does without.</>}</span>}</div>
    </section>
  );
}

export function Builds({ session }) {
  const { value, error, again } = useLoad(load, [], 2000);
  const status = value?.status;
  return (
    <div>
      <Top title="Builds and checks" />
      <Failure error={error} again={again} />
      {!value && !error && <Loading />}
      {value && <div class="card"><h2>Indexes that are being created</h2>
        {value.builds.length === 0 ? <Empty title="No index is being created"><p>An index that is added to a table with items is shown here with its progress. Reads and writes go on meanwhile.</p></Empty>
          : <ShortTable label="Builds" rows={value.builds} keyOf={(row) => `${row.table} ${row.index}`} columns={[
            { title: 'Table', cell: (row) => <TableLink name={row.table} /> }, { title: 'Index', cell: (row) => row.index },
            { title: 'Progress', kind: 'wrap', cell: (row) => <BuildProgress build={row.build} /> }]} />}
        {value.left > 0 && <p class="quiet">{plural(value.left, 'further table')} with indexes were not asked.</p>}</div>}
      {value?.damage && <Note kind="bad"><p><b>Damage was met</b> in {plural(value.damage.files?.length ?? 0, 'file')}.</p>
        {(value.damage.files ?? []).map((one) => <p key={one.name}>{one.name} ({one.owner || one.family}): {one.error}</p>)}</Note>}
      {status && <div class="cards">
        <Check session={session} />
        <section class="card"><h2>Background check</h2>
          {status.background_check ? <Facts of={[['Rate', `${count(status.background_check.rate)} records a second`], ['Rounds finished', count(status.background_check.rounds)], ['Last finished', at(status.background_check.last_end_time_us)],
            ['Findings', count(status.background_check.finding_count)], status.background_check.last_error && ['Last error', status.background_check.last_error]].filter(Boolean)} />
            : <p class="quiet">Off (--background-check-rate).</p>}</section>
        <section class="card"><h2>File check</h2>
          {status.file_check ? <Facts of={[['Rate', `${size(status.file_check.bytes_per_second)} a second`], ['Rounds finished', count(status.file_check.rounds)], ['Last finished', at(status.file_check.last_end_time_us)],
            ['Findings', count(status.file_check.finding_count)]]} /> : <p class="quiet">Off (--file-check-rate 0).</p>}
          {status.check && <p>A check is running: {count(status.check.done)} of {count(status.check.total)} records.</p>}</section>
      </div>}
    </div>
  );
}
