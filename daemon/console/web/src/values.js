// Attribute values. Inside the page an item is in DynamoDB's form, {"pk": {"S": "a"}}; gRPC's messages have another.

export function fromMessage(value) {
  if (value.s !== undefined) return { S: value.s };
  if (value.n !== undefined) return { N: value.n };
  if (value.b !== undefined) return { B: value.b };
  if (value.bool !== undefined) return { BOOL: value.bool };
  if (value.null !== undefined) return { NULL: true };
  if (value.ss) return { SS: value.ss.values ?? [] };
  if (value.ns) return { NS: value.ns.values ?? [] };
  if (value.bs) return { BS: value.bs.values ?? [] };
  if (value.l) return { L: (value.l.values ?? []).map(fromMessage) };
  if (value.m) return { M: itemFromMessage(value.m) };
  return { NULL: true };
}

export function itemFromMessage(item) {
  const made = {};
  for (const { name, value } of item?.attributes ?? []) made[name] = fromMessage(value);
  return made;
}

export function toMessage(value) {
  const [[type, inner]] = Object.entries(value);
  switch (type) {
    case 'S': return { s: inner };
    case 'N': return { n: inner };
    case 'B': return { b: inner };
    case 'BOOL': return { bool: inner };
    case 'NULL': return { null: true };
    case 'SS': return { ss: { values: inner } };
    case 'NS': return { ns: { values: inner } };
    case 'BS': return { bs: { values: inner } };
    case 'L': return { l: { values: inner.map(toMessage) } };
    default: return { m: itemToMessage(inner) };
  }
}

export const itemToMessage = (item) => ({ attributes: Object.entries(item).map(([name, value]) => ({ name, value: toMessage(value) })) });

// Why `item` cannot be edited as plain JSON; null: it can.
export function whyNotPlain(item) {
  const look = (value, name) => {
    const [[type, inner]] = Object.entries(value);
    if (type === 'N') return String(Number(inner)) === inner ? null : `the number ${name} has more digits than plain JSON keeps`;
    if (type === 'L') return inner.map((one) => look(one, name)).find(Boolean) ?? null;
    if (type === 'M') return whyNotPlain(inner);
    if (type === 'S' || type === 'BOOL' || type === 'NULL') return null;
    return `${name} is ${type === 'B' ? 'binary' : 'a set'}, which plain JSON has no form for`;
  };
  for (const [name, value] of Object.entries(item)) {
    const why = look(value, name);
    if (why) return why;
  }
  return null;
}

export function toPlain(value) {
  const [[type, inner]] = Object.entries(value);
  if (type === 'N') return Number(inner);
  if (type === 'NS') return inner.map(Number);
  if (type === 'L') return inner.map(toPlain);
  if (type === 'M') return itemToPlain(inner);
  if (type === 'NULL') return null;
  return inner;
}
export const itemToPlain = (item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toPlain(value)]));

export function fromPlain(value) {
  if (value === null) return { NULL: true };
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(fromPlain) };
  return { M: itemFromPlain(value) };
}
export const itemFromPlain = (item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, fromPlain(value)]));

const types = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M']);

// Throws an Error that says where the text is no item in DynamoDB's form.
export function checkTyped(item) {
  const isObject = (one) => one !== null && typeof one === 'object' && !Array.isArray(one);
  const check = (value, where) => {
    if (!isObject(value) || Object.keys(value).length !== 1 || !types.has(Object.keys(value)[0])) {
      throw new Error(`${where} must be an object with one type, as in {"S": "text"}; types are ${[...types].join(', ')}`);
    }
    const [[type, inner]] = Object.entries(value);
    if (type === 'L') {
      if (!Array.isArray(inner)) throw new Error(`${where}: L must be an array`);
      inner.forEach((one, i) => check(one, `${where}[${i}]`));
    }
    if (type === 'M') {
      if (!isObject(inner)) throw new Error(`${where}: M must be an object`);
      for (const [name, one] of Object.entries(inner)) check(one, `${where}.${name}`);
    }
    if (type === 'N' && typeof inner !== 'string') throw new Error(`${where}: N must be text, as in {"N": "1"}`);
  };
  if (!isObject(item)) throw new Error('an item is an object');
  for (const [name, value] of Object.entries(item)) check(value, name);
}

// The same items make the same text.
export function sameValue(a, b) {
  if (a === undefined || b === undefined) return a === b;
  const norm = (value) => {
    const [[type, inner]] = Object.entries(value);
    if (type === 'M') return { M: Object.fromEntries(Object.keys(inner).sort().map((name) => [name, norm(inner[name])])) };
    if (type === 'L') return { L: inner.map(norm) };
    if (type === 'SS' || type === 'NS' || type === 'BS') return { [type]: [...inner].sort() };
    return { [type]: inner };
  };
  return JSON.stringify(norm(a)) === JSON.stringify(norm(b));
}

// One line for a cell of a table.
export function cellText(value) {
  if (value === undefined) return '';
  const [[type, inner]] = Object.entries(value);
  const text = type === 'S' || type === 'N' ? inner : type === 'B' ? `${inner} (binary)` : type === 'NULL' ? 'null' : JSON.stringify(toPlain(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

// ---- text for people ----

export const count = (number) => Number(number ?? 0).toLocaleString('en-US');

export function size(bytes) {
  let left = Number(bytes ?? 0);
  if (left < 1024) return `${left} B`;
  for (const unit of ['KiB', 'MiB', 'GiB', 'TiB']) {
    left /= 1024;
    if (left < 1024 || unit === 'TiB') return `${left < 10 ? left.toFixed(1) : Math.round(left)} ${unit}`;
  }
}

export function duration(seconds) {
  if (seconds === 0) return '0';
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

const two = (number) => String(number).padStart(2, '0');
export function dateTime(milliseconds) {
  const time = new Date(milliseconds);
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
export const ago = (milliseconds) => `${duration(Math.max(0, (Date.now() - milliseconds) / 1000))} ago`;
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${Number(number) === 1 ? one : many}`;
