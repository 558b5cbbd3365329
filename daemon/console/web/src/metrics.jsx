// The metrics page as plots. Samples are kept while the page is open.
import uPlot from 'uplot';
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, isDenied } from './api.js';
import { Failure, Loading, Top } from './ui.jsx';
import { count, duration, size } from './values.js';

const interval = 2000;
const maxSamples = 900;

// [{name, labels, value}] of Prometheus' text.
export function parseMetrics(text) {
  const found = [];
  for (const line of text.split('\n')) {
    if (line === '' || line[0] === '#') continue;
    const space = line.lastIndexOf(' ');
    const brace = line.indexOf('{');
    const labels = {};
    if (brace > 0 && brace < space) for (const [, name, value] of line.slice(brace, space).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    found.push({ name: line.slice(0, brace > 0 && brace < space ? brace : space), labels, value: Number(line.slice(space + 1)) });
  }
  return found;
}

const reads = new Set(['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query', 'Scan', 'QueryStream', 'ScanStream']);
const bare = (operation) => (operation ?? '').split('/').pop();

// The totals that plots are made of. `buckets`: upper bounds of durations and how many requests were not longer.
function totals(metrics) {
  const sum = (name, wanted = () => true) => metrics.reduce((all, one) => (one.name === name && wanted(one.labels) ? all + one.value : all), 0);
  const buckets = new Map();
  for (const one of metrics) {
    if (one.name !== 'itemdb_request_duration_seconds_bucket') continue;
    const bound = one.labels.le === '+Inf' ? Infinity : Number(one.labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + one.value);
  }
  const isRead = (labels) => reads.has(bare(labels.operation));
  return {
    time: Date.now() / 1000,
    reads: sum('itemdb_request_duration_seconds_count', isRead),
    others: sum('itemdb_request_duration_seconds_count', (labels) => !isRead(labels)),
    failures: sum('itemdb_request_failures_total'),
    buckets: [...buckets].sort((a, b) => a[0] - b[0]),
    commits: sum('itemdb_commits_total'), groups: sum('itemdb_commit_group_commits_count'),
    replyBytes: sum('itemdb_reply_bytes_total'), requestBytes: sum('itemdb_request_bytes_total'),
    syncs: sum('itemdb_commit_write_duration_seconds_count'), syncSeconds: sum('itemdb_commit_write_duration_seconds_sum'),
    resident: sum('process_resident_memory_bytes'), limit: sum('itemdb_memory_limit_bytes'),
    used: sum('itemdb_disk_used_bytes'), free: sum('itemdb_disk_free_bytes'),
    inFlight: sum('itemdb_requests_in_flight'), streams: sum('itemdb_open_streams'),
    pending: sum('itemdb_store_pending_compaction_bytes'),
  };
}

// The duration that a share of the requests between two samples did not exceed.
function quantile(before, after, share) {
  const old = new Map(before.buckets);
  const counts = after.buckets.map(([bound, all]) => [bound, all - (old.get(bound) ?? 0)]);
  const all = counts[counts.length - 1]?.[1] ?? 0;
  if (all <= 0) return null;
  const found = counts.findIndex(([, sum]) => sum >= all * share);
  const bound = counts[found][0];
  return bound === Infinity ? (counts[found - 1]?.[0] ?? null) : bound;
}

const perSecond = (name) => (before, after) => Math.max(0, (after[name] - before[name]) / (after.time - before.time));
const now = (name) => (_, after) => after[name];
const rate = (value) => `${value < 10 ? value.toFixed(1) : count(Math.round(value))}/s`;

// Distances of the marks on an axis: no two marks in one second, and round numbers of what is shown.
const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
const powersOfTwo = Array.from({ length: 60 }, (_, i) => 2 ** i);

const plots = [
  { title: 'Requests', format: rate, series: [['reads', perSecond('reads')], ['writes and others', perSecond('others')]] },
  { title: 'Latency', format: duration, least: 0.0005, series: [['99 %', (a, b) => quantile(a, b, 0.99)], ['median', (a, b) => quantile(a, b, 0.5)]] },
  { title: 'Failures', format: rate, series: [['failures and false conditions', perSecond('failures')]] },
  { title: 'Commits', format: rate, series: [['commits', perSecond('commits')], ['groups', perSecond('groups')]] },
  { title: 'Time of a synced write', format: duration, least: 0.0005, series: [['mean', (a, b) => (b.syncs > a.syncs ? (b.syncSeconds - a.syncSeconds) / (b.syncs - a.syncs) : null)]] },
  { title: 'Bytes', marks: powersOfTwo, least: 1024, format: (value) => `${size(Math.round(value))}/s`, series: [['replies', perSecond('replyBytes')], ['requests', perSecond('requestBytes')]] },
  { title: 'In flight', format: count, series: [['requests', now('inFlight')], ['streams', now('streams')]] },
  { title: 'Memory', marks: powersOfTwo, format: (value) => size(Math.round(value)), series: [['resident', now('resident')], ['limit', now('limit')]] },
  { title: 'Disk', marks: powersOfTwo, format: (value) => size(Math.round(value)), series: [['used', now('used')], ['waiting for compaction', now('pending')]] },
];

function Plot({ plot, data }) {
  const box = useRef();
  const made = useRef();
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--faint'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 }, font: '11px system-ui' };
    const options = {
      width: box.current.clientWidth, height: 140, padding: [8, 8, 0, 0], cursor: { y: false }, legend: { show: false },
      scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.1, plot.least ?? 1)] } },
      axes: [{ ...axis, values: (_, times) => times.map((one) => new Date(one * 1000).toTimeString().slice(0, 8)), incrs: seconds, space: 80, size: 28 },
        { ...axis, size: 72, values: (_, values) => values.map((one) => plot.format(one)), space: 32, ...(plot.marks ? { incrs: plot.marks } : {}) }],
      series: [{}, ...plot.series.map(([label], i) => ({ label, stroke: colour(i === 0 ? '--accent' : '--quiet'), width: i === 0 ? 2 : 1.5, spanGaps: true, points: { show: false } }))],
    };
    made.current = new uPlot(options, data, box.current);
    const resized = new ResizeObserver(() => made.current.setSize({ width: box.current.clientWidth, height: 140 }));
    resized.observe(box.current);
    return () => { resized.disconnect(); made.current.destroy(); };
  }, []);
  useEffect(() => made.current?.setData(data), [data]);
  const last = data[1].findLast((one) => one !== null);
  return (
    <section class="card plot">
      <h2>{plot.title}</h2>
      <p class="now">{last === undefined ? '—' : plot.format(last)}</p>
      <div ref={box} role="img" aria-label={`${plot.title} over time, now ${last === undefined ? 'nothing' : plot.format(last)}`} />
      <ul class="legend">{plot.series.map(([label], i) => <li key={label} class={`c${i}`}><i />{label}</li>)}</ul>
    </section>
  );
}

let samples = [];

export function Metrics() {
  const [made, setMade] = useState(null);
  const [error, setError] = useState(null);
  const [scheme, setScheme] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => setScheme(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  useEffect(() => {
    let timer = 0;
    const abort = new AbortController();
    const go = async () => {
      try {
        if (!document.hidden) {
          const sample = totals(parseMetrics(await call('console.GetMetrics', {}, { background: samples.length > 0, signal: abort.signal })));
          // Counters begin again with the process.
          const last = samples[samples.length - 1];
          if (last && sample.reads + sample.others < last.reads + last.others) samples = [];
          samples = [...samples.slice(-maxSamples), sample];
          const steps = samples.slice(1);
          setMade(plots.map((plot) => [steps.map((one) => one.time), ...plot.series.map(([, value]) => steps.map((one, i) => value(samples[i], one)))]));
          setError(null);
        }
      } catch (failed) {
        if (failed.name === 'AbortError') return;
        setError(failed);
        if (isDenied(failed)) return;
      }
      timer = setTimeout(go, samples.length < 2 ? 500 : interval);
    };
    go();
    return () => { abort.abort(); clearTimeout(timer); };
  }, []);
  return (
    <div>
      <Top title="Metrics" />
      <p class="quiet">Every 2 seconds while this screen is open, as on <code>/metrics</code>.</p>
      <Failure error={error} />
      {!made && !error && <Loading />}
      {made && <div class="plots">{plots.map((plot, i) => <Plot key={`${plot.title} ${scheme}`} plot={plot} data={made[i]} />)}</div>}
    </div>
  );
}
