// A model folder that was opened in the browser, and the requests of its access patterns (docs/model_folder.md). Nothing here is
// DOM or network, so a test can read every example with it.
import { checkTyped, fromPlain, sameValue } from './values.js';

const reads = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem', 'TransactGetItems']);
const typeNames = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M']);
const isObject = (one) => one !== null && typeof one === 'object' && !Array.isArray(one);
const isTyped = (one) => isObject(one) && Object.keys(one).length === 1 && typeNames.has(Object.keys(one)[0]);

// The expressions at each level of a request: [{text, values of that level's owner}].
function owners(request) {
  const found = [];
  const walk = (one) => {
    if (Array.isArray(one)) one.forEach(walk);
    if (!isObject(one)) return;
    const text = Object.entries(one).filter(([name, value]) => name.endsWith('Expression') && typeof value === 'string').map(([, value]) => value).join(' ');
    if (text) found.push({ owner: one, text });
    Object.values(one).forEach(walk);
  };
  walk(request);
  return found;
}
const uses = (text, name) => new RegExp(`${name.replace(/[^\w:]/g, '\\$&')}(?!\\w)`).test(text);

// The patterns of the text of a patterns.json. Throws an Error that says what is wrong and where.
export function readPatterns(text) {
  let patterns;
  try { patterns = JSON.parse(text); } catch (error) { throw new Error(`patterns.json is not JSON: ${error.message}`); }
  if (!Array.isArray(patterns)) throw new Error('patterns.json must be an array of patterns');
  return patterns.map((one, i) => {
    const where = `pattern ${i + 1} of patterns.json`;
    if (!isObject(one) || typeof one.Name !== 'string') throw new Error(`${where} has no Name`);
    if (!Array.isArray(one.Requests) || one.Requests.length === 0) throw new Error(`${where}, ${one.Name}: it has no Requests`);
    for (const { Operation, Request } of one.Requests) {
      if (typeof Operation !== 'string' || !isObject(Request)) throw new Error(`${where}, ${one.Name}: each of its Requests needs an Operation and a Request`);
    }
    const writes = one.Requests.some(({ Operation }) => !reads.has(Operation));
    return { name: one.Name, title: one.Title ?? '', requests: one.Requests, items: one.Items, anyOrder: one.AnyOrder === true, writes, parameters: parametersOf(one) };
  });
}

// What a person may change before running: the named parameters, then the values of expressions, then the key of a GetItem. Not
// what has other values in other requests, such as the shard of each: one field cannot stand for them.
function parametersOf(pattern) {
  const found = new Map();
  const named = Object.entries(pattern.Parameters ?? {});
  const add = (name, value) => {
    if (named.some(([one]) => one === name)) return;
    found.set(name, found.has(name) && !(found.get(name) && sameValue(found.get(name), value)) ? null : value);
  };
  for (const { Operation, Request } of pattern.Requests) {
    for (const { owner } of owners(Request)) for (const [name, value] of Object.entries(owner.ExpressionAttributeValues ?? {})) if (isTyped(value)) add(name, value);
    if (Operation === 'GetItem') for (const [name, value] of Object.entries(Request.Key ?? {})) if (isTyped(value)) add(name, value);
  }
  return [...named, ...[...found].filter(([, value]) => value !== null)].map(([name, value]) => ({ name, value }));
}

// A value as a person types it: text and numbers as they are, everything else in DynamoDB's form.
export const valueText = (value) => (value === null ? '' : value.S ?? value.N ?? JSON.stringify(value));

// The value that `text` means; text and numbers stay of the type that the folder has.
export function valueOf(text, before) {
  if (before?.S !== undefined) return { S: text };
  if (before?.N !== undefined && text.trim() !== '' && Number.isFinite(Number(text))) return { N: text.trim() };
  let read;
  try { read = JSON.parse(text); } catch { return { S: text }; }
  if (!isTyped(read)) return fromPlain(read);
  checkTyped({ value: read });
  return read;
}

// `request` with the values of `parameters`: as placeholders of the expressions that use them, for strings of the same name where an
// attribute value stands, and for attributes of the key of a GetItem.
export function fill(operation, request, parameters) {
  const filled = structuredClone(request);
  const byName = new Map(parameters.map(({ name, value }) => [name, value]));
  const replace = (one) => {
    if (isTyped(one) && !byName.has(Object.values(one)[0])) return;
    if (!isObject(one) && !Array.isArray(one)) return;
    for (const [name, value] of Object.entries(one)) {
      if (typeof value === 'string' && byName.has(value) && !(isTyped(one) && name === 'S')) one[name] = byName.get(value);
      else replace(value);
    }
  };
  replace(filled);
  for (const { owner, text } of owners(filled)) {
    for (const [name, value] of byName) {
      if (name.startsWith(':') && uses(text, name)) owner.ExpressionAttributeValues = { ...owner.ExpressionAttributeValues, [name]: value };
    }
  }
  if (operation === 'GetItem') for (const [name, value] of byName) if (filled.Key && name in filled.Key) filled.Key[name] = value;
  return filled;
}

// The items of an answer.
export function itemsOf(operation, answer) {
  if (operation === 'GetItem') return answer.Item ? [answer.Item] : [];
  if (operation === 'BatchGetItem') return Object.values(answer.Responses ?? {}).flat();
  if (operation === 'TransactGetItems') return (answer.Responses ?? []).map((one) => one.Item).filter(Boolean);
  return answer.Items ?? [];
}

// Whether the items that were found are those that the folder expects.
export function isExpected(found, expected, anyOrder) {
  const same = (a, b) => sameValue({ M: a }, { M: b });
  if (found.length !== expected.length) return false;
  if (!anyOrder) return found.every((item, i) => same(item, expected[i]));
  const left = [...expected];
  return found.every((item) => {
    const at = left.findIndex((one) => same(item, one));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
