// Parts that several screens use.
import { Fragment, h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export const Top = ({ title, crumb, children }) => {
  useEffect(() => { document.title = `${title} · itemdb`; }, [title]);
  return (
    <div class="top">
      <div>{crumb && <div class="crumb">{crumb}</div>}<h1>{title}</h1></div>
      {children && <div class="right">{children}</div>}
    </div>
  );
};

// For a row of links that scrolls on a phone: the current one is seen. `where` changes with it.
export function useCurrentInView(where) {
  const row = useRef();
  useLayoutEffect(() => {
    const current = row.current?.querySelector('[aria-current]');
    if (!current) return;
    const box = row.current.getBoundingClientRect();
    const { left, right } = current.getBoundingClientRect();
    if (right > box.right || left < box.left) row.current.scrollLeft += (left + right - box.left - box.right) / 2;
  }, [where]);
  return row;
}

export const Note = ({ kind = '', children }) => <div class={`note ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>{children}</div>;

export const Failure = ({ error, again }) => error && (
  <Note kind="bad">
    <p>{error.message}</p>
    {again && <p><button class="small" onClick={again}>Try again</button></p>}
  </Note>
);

export const Empty = ({ title, children }) => <div class="empty"><h2>{title}</h2>{children}</div>;

export const Loading = () => <p class="quiet" role="status">Loading…</p>;

export const Tag = ({ kind = '', children }) => <span class={`tag ${kind}`}>{children}</span>;

export const Facts = ({ of }) => (
  <dl class="facts">
    {of.filter(([, value]) => value !== null && value !== undefined && value !== false).map(([name, value]) => (
      <Fragment key={name}><dt>{name}</dt><dd>{value}</dd></Fragment>
    ))}
  </dl>
);

export const Figures = ({ of }) => (
  <dl class="figures">{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
);

export const Segments = ({ label, of, value, onChange }) => (
  <div class="seg" role="group" aria-label={label}>
    {of.map(([name, text]) => <button key={name} type="button" aria-pressed={value === name} onClick={() => onChange(name)}>{text}</button>)}
  </div>
);

export function Dialog({ title, narrow, onClose, children }) {
  const dialog = useRef();
  useEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown.showModal();
    return () => {
      shown.close();
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={narrow ? 'narrow' : ''} aria-label={title} onCancel={(event) => { event.preventDefault(); onClose?.(); }}>
      <div class="in">
        <div class="head"><h2>{title}</h2>{onClose && <button type="button" class="small" onClick={onClose}>Close</button>}</div>
        {children}
      </div>
    </dialog>
  );
}

const HeadText = ({ column }) => (column.unseen ? <span class="hidden">{column.title}</span> : column.title);

const rowHeight = 32;
const spare = 8;

// A table of any number of rows; only those that are seen are in the document. `columns`: [{title, cell(row), number,
// sort, width}]; all rows are of one height. With widths, in characters, the columns do not move while the rows do, and
// the browser need not look at every cell; a column without one takes what is left.
export function LongTable({ label, columns, rows, keyOf, sorted, onSort }) {
  const box = useRef();
  const [seen, setSeen] = useState({ first: 0, last: 40 });
  const look = () => {
    const { scrollTop, clientHeight } = box.current;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - spare);
    const last = Math.ceil((scrollTop + clientHeight) / rowHeight) + spare;
    setSeen((old) => (Math.abs(old.first - first) < spare / 2 && Math.abs(old.last - last) < spare / 2 ? old : { first, last }));
  };
  useLayoutEffect(look, [rows.length]);
  const first = Math.min(seen.first, rows.length);
  const last = Math.min(seen.last, rows.length);
  const gap = (height) => height > 0 && <tr class="gap" aria-hidden="true"><td colSpan={columns.length} style={{ height: `${height}px` }} /></tr>;
  const fixed = columns.some((column) => column.width);
  const least = columns.reduce((sum, column) => sum + (column.width ?? 16), 0);
  return (
    <div class="scroll tall" ref={box} onScroll={look} tabIndex={0} role="region" aria-label={label}>
      <table class={fixed ? 'fixed' : ''} style={fixed ? { minWidth: `${least}ch` } : undefined} aria-rowcount={rows.length + 1}>
        {fixed && <colgroup>{columns.map((column) => <col key={column.title} style={column.width ? { width: `${column.width}ch` } : undefined} />)}</colgroup>}
        <thead>
          <tr>{columns.map((column) => (
            <th key={column.title} scope="col" class={column.number ? 'number' : ''} aria-sort={sorted?.by === column.sort && column.sort ? (sorted.down ? 'descending' : 'ascending') : undefined}>
              {column.sort ? <button type="button" onClick={() => onSort(column.sort)}>{column.title}{sorted?.by === column.sort ? (sorted.down ? ' ↓' : ' ↑') : ''}</button> : <HeadText column={column} />}
            </th>
          ))}</tr>
        </thead>
        <tbody>
          {gap(first * rowHeight)}
          {rows.slice(first, last).map((row, i) => (
            <tr key={keyOf(row, first + i)} aria-rowindex={first + i + 2}>
              {columns.map((column) => <td key={column.title} class={`${column.number ? 'number' : ''} ${column.kind ?? ''}`}>{column.cell(row)}</td>)}
            </tr>
          ))}
          {gap((rows.length - last) * rowHeight)}
        </tbody>
      </table>
    </div>
  );
}

// A short table, for phones in a box that scrolls.
export const ShortTable = ({ label, columns, rows, keyOf }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead><tr>{columns.map((column) => <th key={column.title} scope="col" class={column.number ? 'number' : ''}><HeadText column={column} /></th>)}</tr></thead>
      <tbody>{rows.map((row, i) => (
        <tr key={keyOf ? keyOf(row, i) : i}>{columns.map((column) => <td key={column.title} class={`${column.number ? 'number' : ''} ${column.kind ?? ''}`}>{column.cell(row)}</td>)}</tr>
      ))}</tbody>
    </table>
  </div>
);

export function CopyAs({ codes }) {
  const [language, setLanguage] = useState(Object.keys(codes)[0]);
  const [copied, setCopied] = useState(false);
  const text = codes[language];
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const box = document.getElementById('code-to-copy');
      getSelection().selectAllChildren(box);
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="stack">
      <div class="row middle">
        <Segments label="Language" of={Object.keys(codes).map((name) => [name, name])} value={language} onChange={setLanguage} />
        <button type="button" onClick={copy}>{copied ? 'Copied' : 'Copy'}</button>
      </div>
      <pre class="code" id="code-to-copy" tabIndex={0} role="region" aria-label={`As ${language}`}>{text}</pre>
    </div>
  );
}

export const linkTo = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`;
export const TableLink = ({ name, to = [], text }) => <a href={linkTo('tables', name, ...to)}>{text ?? name}{text && <span class="hidden"> of {name}</span>}</a>;
