// All tables with their exact numbers.
import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { dynamo, itemdb, useLoad } from './api.js';
import { Empty, Failure, Figures, Loading, LongTable, TableLink, Top } from './ui.jsx';
import { count, size } from './values.js';

// A key with roles for some tables only may not ask for the status: it gets the names.
async function load(session, { signal, background }) {
  if (session.role !== 'none' && session.role !== 'metrics') {
    const status = await itemdb('Admin/GetStatus', { with_tables: true }, { signal, background });
    return { status, tables: (status.tables ?? []).map((one) => ({ name: one.table_name, items: Number(one.item_count ?? 0), bytes: Number(one.item_bytes ?? 0), indexes: one.index_count ?? 0 })) };
  }
  const tables = [];
  for (let after; ;) {
    const page = await dynamo('ListTables', { Limit: 100, ExclusiveStartTableName: after }, { signal, background });
    tables.push(...page.TableNames.map((name) => ({ name })));
    after = page.LastEvaluatedTableName;
    if (!after) return { tables };
  }
}

export function Tables({ session }) {
  const { value, error, again } = useLoad((options) => load(session, options), [session.role], 5000);
  const [search, setSearch] = useState('');
  const [sorted, setSorted] = useState({ by: 'name', down: false });
  const rows = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    const found = (value?.tables ?? []).filter((one) => one.name.toLowerCase().includes(wanted));
    const { by, down } = sorted;
    if (by === 'name' && !down) return found;
    found.sort((a, b) => (by === 'name' ? (a.name < b.name ? -1 : 1) : a[by] - b[by]));
    return down ? found.reverse() : found;
  }, [value, search, sorted]);
  const columns = [
    { title: 'Table', sort: 'name', cell: (row) => <TableLink name={row.name} /> },
    { title: 'Items', sort: 'items', number: true, width: 16, cell: (row) => (row.items === undefined ? '' : count(row.items)) },
    { title: 'Size', sort: 'bytes', number: true, width: 13, cell: (row) => (row.bytes === undefined ? '' : size(row.bytes)) },
    { title: 'Indexes', sort: 'indexes', number: true, width: 12, cell: (row) => row.indexes ?? '' },
    { title: 'Read', unseen: true, number: true, width: 10, cell: (row) => <TableLink name={row.name} to={['items']} text="Items" /> },
  ];
  const status = value?.status;
  return (
    <div>
      <Top title="Tables"><label><span class="hidden">Find a table</span><input type="search" placeholder="Find a table" value={search} onInput={(event) => setSearch(event.target.value)} /></label></Top>
      <Failure error={error} again={again} />
      {!value && !error && <Loading />}
      {status && <Figures of={[
        ['Tables', count(status.table_count)], ['Items', count((value.tables).reduce((sum, one) => sum + one.items, 0))],
        ['Item bytes', size(value.tables.reduce((sum, one) => sum + one.bytes, 0))], ['Last change', count(status.change_sequence)], ['Disk free', size(status.disk?.free)],
      ]} />}
      {value && (value.tables.length === 0
        ? <div class="card"><Empty title="There is no table yet"><p>Make one with any DynamoDB client, or load the example: <code>itemctl order-entry load</code>.</p></Empty></div>
        : rows.length === 0
          ? <div class="card"><Empty title="No table has this name"><p>No name of {count(value.tables.length)} tables contains “{search}”.</p></Empty></div>
          : <div class="card flush"><LongTable label="Tables" columns={columns} rows={rows} keyOf={(row) => row.name} sorted={sorted}
            onSort={(by) => setSorted((old) => ({ by, down: old.by === by ? !old.down : by !== 'name' }))} /></div>)}
    </div>
  );
}
