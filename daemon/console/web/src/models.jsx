// Access patterns of a model folder: the person opens the folder, the page reads patterns.json of it, and one click runs a
// pattern. The folder is read by the browser and sent nowhere.
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { dynamo } from './api.js';
import { Failure, LongTable, Note, Tag } from './ui.jsx';
import { fill, isExpected, itemsOf, readPatterns, valueOf, valueText } from './models.js';
import { cellText, plural } from './values.js';

// What is read for one pattern at most; the rest is said to exist.
const mostItems = 1000;

async function run(pattern, parameters) {
  const answer = { items: [], calls: 0, examined: 0, more: false };
  for (const { Operation, Request } of pattern.requests) {
    let body = fill(Operation, Request, parameters);
    for (;;) {
      const page = await dynamo(Operation, body);
      answer.calls += 1;
      answer.items.push(...itemsOf(Operation, page));
      answer.examined += page.ScannedCount ?? itemsOf(Operation, page).length;
      if (Object.keys(page.UnprocessedKeys ?? {}).length > 0) body = { ...body, RequestItems: page.UnprocessedKeys };
      else if (page.LastEvaluatedKey && !Request.Limit) body = { ...body, ExclusiveStartKey: page.LastEvaluatedKey };
      else break;
      if (answer.items.length >= mostItems) return { ...answer, more: true };
    }
  }
  return answer;
}

function Answer({ name, answer }) {
  const names = [...new Set(answer.items.slice(0, 100).flatMap((item) => Object.keys(item)))].slice(0, 16);
  const columns = names.map((title) => ({ title, kind: 'cell', cell: (item) => cellText(item[title]) }));
  return (
    <div class="stack">
      <p role="status">{plural(answer.items.length, 'item')}{answer.more && ', more follow'}; {plural(answer.calls, 'call')}, {plural(answer.examined, 'item')} examined.{' '}
        {answer.compared === true && <Tag kind="on">as the folder expects</Tag>}{answer.compared === false && <Tag kind="warn">differs from the folder</Tag>}</p>
      {answer.items.length > 0 && <LongTable label={`The answer of ${name}`} columns={columns} rows={answer.items} keyOf={(row, i) => i} />}
    </div>
  );
}

function Pattern({ pattern }) {
  const [texts, setTexts] = useState(() => pattern.parameters.map(({ value }) => valueText(value)));
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    setAnswer(null);
    try {
      const unchanged = pattern.parameters.every(({ value }, i) => valueText(value) === texts[i]);
      const missing = pattern.parameters.find(({ value }, i) => value === null && texts[i] === '');
      if (missing) throw new Error(`${missing.name} needs a value`);
      const found = await run(pattern, pattern.parameters.map(({ name, value }, i) => ({ name, value: valueText(value) === texts[i] ? value : valueOf(texts[i], value) })));
      setAnswer({ ...found, compared: pattern.items && unchanged && !found.more ? isExpected(found.items, pattern.items, pattern.anyOrder) : undefined });
    } catch (failed) {
      setError(failed.type === 'ResourceNotFoundException' ? new Error('A table or index of this pattern is not here: itemctl model apply creates those of the folder.') : failed);
    }
    setBusy(false);
  };
  return (
    <section class="card" aria-label={pattern.name}>
      <form class="stack" onSubmit={submit}>
        <h3>{pattern.name}</h3>
        <p class="quiet">{pattern.title && `${pattern.title}: `}{pattern.requests.map(({ Operation, Request }) => `${Operation}${Request.TableName ? ` of ${Request.TableName}` : ''}${Request.IndexName ? `, ${Request.IndexName}` : ''}`).join('; ')}</p>
        {pattern.writes ? <p class="quiet">It writes: <code>itemctl model run --writes</code> runs it.</p> : (
          <div class="row">
            {pattern.parameters.map(({ name }, i) => <label key={name}>{name}<input value={texts[i]} spellcheck={false} autocapitalize="off"
              onInput={(event) => setTexts(texts.map((old, at) => (at === i ? event.target.value : old)))} /></label>)}
            <button class="main" disabled={busy}>{busy ? 'Running…' : 'Run'}<span class="hidden"> {pattern.name}</span></button>
          </div>)}
        <Failure error={error} />
        {answer && <Answer name={pattern.name} answer={answer} />}
      </form>
    </section>
  );
}

export function ModelFolder() {
  const [folder, setFolder] = useState(null);
  const [error, setError] = useState(null);
  const open = async (event) => {
    const files = [...event.target.files];
    setError(null);
    setFolder(null);
    if (files.length === 0) return;
    const name = files[0].webkitRelativePath.split('/')[0];
    try {
      const file = files.find((one) => one.webkitRelativePath.split('/').slice(1).join('/') === 'patterns.json');
      if (!file) throw new Error(`${name || 'The folder'} has no patterns.json: a model folder is one that itemctl model takes`);
      setFolder({ name, opened: Date.now(), patterns: readPatterns(await file.text()) });
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <div>
      <div class="card stack">
        <h2>Of a model folder</h2>
        <p class="quiet">Open a folder of <code>itemctl model</code>; its patterns run here with one click. The browser reads the folder and sends only the requests of the patterns that you run.</p>
        <label>Model folder<input type="file" webkitdirectory multiple onChange={open} /></label>
        <Failure error={error} />
      </div>
      {folder && (folder.patterns.length === 0 ? <Note><p>{folder.name} has no patterns.</p></Note>
        : folder.patterns.map((pattern) => <Pattern key={`${folder.opened} ${pattern.name}`} pattern={pattern} />))}
    </div>
  );
}
