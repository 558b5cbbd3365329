// Requests made of what a person has filled in: reads of the query builder, writes of the editor.
import { sameValue } from './values.js';

export const keyTypes = { S: 'text', N: 'number', B: 'binary, base64' };
export const keyOperators = { any: 'any', eq: '=', lt: '<', le: '≤', gt: '>', ge: '≥', between: 'between', begins: 'begins with' };
export const filterOperators = {
  eq: '=', ne: '≠', lt: '<', le: '≤', gt: '>', ge: '≥', contains: 'contains', begins: 'begins with', exists: 'exists', missing: 'does not exist',
};
const signs = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' };

const enumTail = (text) => (text ?? '').replace(/^(KEY_TYPE|SCALAR_ATTRIBUTE_TYPE)_/, '');
const scalar = { STRING: 'S', NUMBER: 'N', BINARY: 'B', S: 'S', N: 'N', B: 'B' };

// The key attributes of a table or an index: [{name, type: "S", range: false}].
export function keysOf(table, keySchema) {
  const types = Object.fromEntries((table.attribute_definitions ?? []).map((one) => [one.attribute_name, scalar[enumTail(one.attribute_type)] ?? 'S']));
  return (keySchema ?? []).map((one) => ({ name: one.attribute_name, type: types[one.attribute_name], range: enumTail(one.key_type) === 'RANGE' }));
}

// What can be read: the table, then its indexes.
export function sourcesOf(table) {
  const index = (one, local) => ({ index: one.index_name, keys: keysOf(table, one.key_schema), local, status: one.index_status, items: one.item_count, projection: one.projection });
  return [
    { index: '', keys: keysOf(table, table.key_schema), items: table.item_count },
    ...(table.global_secondary_indexes ?? []).map((one) => index(one, false)),
    ...(table.local_secondary_indexes ?? []).map((one) => index(one, true)),
  ];
}

export const isActive = (source) => !/CREATING|DELETING/.test(source.status ?? '');

const shapes = [
  [/^(\w+) (=|<>|<=|>=|<|>) \?$/, (name, sign) => ({ name, op: Object.keys(signs).find((one) => signs[one] === sign) })],
  [/^(\w+) BETWEEN \? AND \?$/, (name) => ({ name, op: 'between' })],
  [/^(begins_with|contains)\((\w+), \?\)$/, (what, name) => ({ name, op: what === 'contains' ? 'contains' : 'begins' })],
  [/^attribute_(not_)?exists\((\w+)\)$/, (not, name) => ({ name, op: not ? 'missing' : 'exists' })],
];

// The form of an access pattern, such as "state = ? AND begins_with(placed, ?)", for a person to fill in the values.
// What the form has no field for is left out.
export function formOfPattern(keyCondition, filter) {
  const parts = (text) => (text ?? '').replace(/BETWEEN \? AND/g, 'BETWEEN ? &').split(' AND ').map((one) => one.replace('&', 'AND')).flatMap((one) => {
    for (const [shape, made] of shapes) {
      const found = one.match(shape);
      if (found) return [made(...found.slice(1))];
    }
    return [];
  });
  return {
    keys: Object.fromEntries(parts(keyCondition).filter(({ op }) => op in keyOperators).map(({ name, op }) => [name, { op, value: '', value2: '' }])),
    filters: parts(filter).filter(({ op }) => op in filterOperators).map(({ name, op }) => ({ name, op, type: 'S', value: '' })),
  };
}

// An error of a field, shown beside it.
export class FieldError extends Error {}

function scalarValue(type, text, what) {
  if (type === 'N') {
    if (!/^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text.trim())) throw new FieldError(`${what} must be a number`);
    return { N: text.trim() };
  }
  if (type === 'BOOL') return { BOOL: text === 'true' };
  if (type === 'NULL') return { NULL: true };
  return { [type]: text };
}

// `form`: {index, keys: {name: {op, value, value2}}, filters: [{name, op, type, value}], descending, limit}.
// Throws a FieldError when a field cannot be what it must be.
export function readRequest(tableName, source, form) {
  const names = {};
  const values = {};
  const placeName = (name) => {
    const known = Object.keys(names).find((one) => names[one] === name);
    if (known) return known;
    const made = `#n${Object.keys(names).length}`;
    names[made] = name;
    return made;
  };
  const placeValue = (value) => {
    const made = `:v${Object.keys(values).length}`;
    values[made] = value;
    return made;
  };
  const conditions = [];
  const partition = source.keys.filter((key) => !key.range);
  const filled = (key) => (form.keys[key.name]?.value ?? '') !== '';
  const isQuery = partition.every(filled);
  if (!isQuery && source.keys.some((key) => filled(key) && (form.keys[key.name]?.op ?? 'any') !== 'any')) {
    const missing = partition.filter((key) => !filled(key)).map((key) => key.name).join(' and ');
    throw new FieldError(`A range needs the partition key too: give a value for ${missing}, or leave all keys empty to scan`);
  }
  if (isQuery) {
    for (const key of source.keys) {
      const { op = 'any', value = '', value2 = '' } = form.keys[key.name] ?? {};
      if (key.range && (op === 'any' || value === '')) continue;
      const name = placeName(key.name);
      const first = placeValue(scalarValue(key.type, value, key.name));
      if (!key.range || op === 'eq') conditions.push(`${name} = ${first}`);
      else if (op === 'begins') conditions.push(`begins_with(${name}, ${first})`);
      else if (op === 'between') conditions.push(`${name} BETWEEN ${first} AND ${placeValue(scalarValue(key.type, value2, key.name))}`);
      else conditions.push(`${name} ${signs[op]} ${first}`);
    }
  }
  const filters = form.filters.filter((one) => one.name.trim() !== '').map((one) => {
    const name = one.name.trim().split('.').map(placeName).join('.');
    if (one.op === 'exists') return `attribute_exists(${name})`;
    if (one.op === 'missing') return `attribute_not_exists(${name})`;
    const value = placeValue(scalarValue(one.type, one.value, one.name));
    if (one.op === 'contains') return `contains(${name}, ${value})`;
    if (one.op === 'begins') return `begins_with(${name}, ${value})`;
    return `${name} ${signs[one.op]} ${value}`;
  });
  return {
    operation: isQuery ? 'Query' : 'Scan', tableName, index: source.index, names, values, limit: Number(form.limit),
    keyCondition: conditions.join(' AND '), filter: filters.join(' AND '), descending: isQuery && form.descending,
  };
}

// With the names and values in place, for people.
export function spelled(expression, read) {
  const text = (value) => ('S' in value ? JSON.stringify(value.S) : String(Object.values(value)[0]));
  return expression.replace(/#n\d+/g, (name) => read.names[name]).replace(/:v\d+/g, (value) => text(read.values[value]));
}

// ---- copy as ----

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const has = (object) => Object.keys(object).length > 0;
const join = (lines) => lines.filter(Boolean).join(' \\\n  ');

function python(value) {
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (value !== null && typeof value === 'object') return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${python(one)}`).join(', ')}}`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

function cpp(value) {
  const [[type, inner]] = Object.entries(value);
  if (type === 'N') return /^-?\d{1,15}$/.test(inner) ? inner : `*itemdb::Number::Parse(${JSON.stringify(inner)})`;
  if (type === 'BOOL') return String(inner);
  if (type === 'S') return JSON.stringify(inner);
  return `/* ${JSON.stringify(value)} */`;
}
const cppMap = (object, write) => `{${Object.entries(object).map(([name, one]) => `{${JSON.stringify(name)}, ${write(one)}}`).join(', ')}}`;

// Where programs reach this itemd, as they write it, of what /api/session answers; empty: it does not serve that protocol.
// An address of every interface is reached by the name `host`, by which this page was.
export function placesOf({ grpc_address: grpc = '', http_address: http = 'localhost:8000', tls }, host) {
  const reached = (address) => address.replace(/^(0\.0\.0\.0|\[::\])(?=:\d+$)/, host);
  return { grpc: reached(grpc), http: http && !http.startsWith('unix:') ? `${tls ? 'https' : 'http'}://${reached(http)}` : '' };
}

const itemctl = (places) => (places.grpc ? `itemctl --endpoint ${quoted(places.grpc)}` : 'itemctl');
// Code for DynamoDB's protocol.
const overHttp = (places, code) => (places.http ? code : '# This itemd does not serve DynamoDB\'s protocol: start it with --http-listen.');

export function readAsCode(read, places) {
  const query = read.operation === 'Query';
  const names = has(read.names) && JSON.stringify(read.names);
  const values = has(read.values) && JSON.stringify(read.values);
  return {
    itemctl: join([
      `${itemctl(places)} ${query ? 'query' : 'scan'} ${quoted(read.tableName)}`, read.index && `--index ${quoted(read.index)}`,
      query && `--key-condition ${quoted(read.keyCondition)}`, read.filter && `--filter ${quoted(read.filter)}`,
      names && `--names ${quoted(names)}`, values && `--values ${quoted(values)}`, read.descending && '--no-scan-index-forward', `--limit ${read.limit}`,
    ]),
    'AWS CLI': overHttp(places, join([
      `aws dynamodb ${query ? 'query' : 'scan'} --table-name ${quoted(read.tableName)}`, read.index && `--index-name ${quoted(read.index)}`,
      query && `--key-condition-expression ${quoted(read.keyCondition)}`, read.filter && `--filter-expression ${quoted(read.filter)}`,
      names && `--expression-attribute-names ${quoted(names)}`, values && `--expression-attribute-values ${quoted(values)}`,
      read.descending && '--no-scan-index-forward', `--page-size ${read.limit} --max-items ${read.limit}`, `--endpoint-url ${quoted(places.http)}`,
    ])),
    Python: overHttp(places, [
      'import boto3', '', `client = boto3.client("dynamodb", endpoint_url=${JSON.stringify(places.http)})`, `page = client.${query ? 'query' : 'scan'}(`,
      ...[`TableName=${python(read.tableName)}`, read.index && `IndexName=${python(read.index)}`, query && `KeyConditionExpression=${python(read.keyCondition)}`,
        read.filter && `FilterExpression=${python(read.filter)}`, names && `ExpressionAttributeNames=${python(read.names)}`,
        values && `ExpressionAttributeValues=${python(read.values)}`, read.descending && 'ScanIndexForward=False', `Limit=${read.limit}`]
        .filter(Boolean).map((line) => `    ${line},`), ')',
    ].join('\n')),
    'C++': [
      `auto page = client.${read.operation}({`,
      ...[`.table_name = ${JSON.stringify(read.tableName)}`, read.index && `.index_name = ${JSON.stringify(read.index)}`,
        query && `.key_condition_expression = ${JSON.stringify(read.keyCondition)}`, read.filter && `.filter_expression = ${JSON.stringify(read.filter)}`,
        names && `.expression_attribute_names = ${cppMap(read.names, (one) => JSON.stringify(one))}`,
        values && `.expression_attribute_values = ${cppMap(read.values, cpp)}`, `.limit = ${read.limit}`, read.descending && '.scan_index_forward = false']
        .filter(Boolean).map((line) => `    ${line},`), '});',
    ].join('\n'),
  };
}

export function itemAsCode(tableName, key, places) {
  const typed = JSON.stringify(key);
  return {
    itemctl: `${itemctl(places)} item get ${quoted(tableName)} ${quoted(typed)}`,
    'AWS CLI': overHttp(places, join([`aws dynamodb get-item --table-name ${quoted(tableName)}`, `--key ${quoted(typed)}`, `--endpoint-url ${quoted(places.http)}`])),
    Python: overHttp(places, ['import boto3', '', `client = boto3.client("dynamodb", endpoint_url=${JSON.stringify(places.http)})`,
      `item = client.get_item(TableName=${python(tableName)}, Key=${python(key)}).get("Item")`].join('\n')),
    'C++': `auto got = client.GetItem({.table_name = ${JSON.stringify(tableName)}, .key = ${cppMap(key, cpp)}});`,
  };
}

// ---- writes ----

export const pick = (item, keys) => Object.fromEntries(keys.map((key) => [key.name, item[key.name]]));

// An expression may have 300 operators; a condition takes two for each attribute. So many are compared.
const maxCompared = 100;

// "The item is as it was read": a condition on its attributes, those in `first` before others.
function unchanged(item, first) {
  const names = {};
  const values = {};
  const order = [...Object.keys(item)].sort((a, b) => Number(first.includes(b)) - Number(first.includes(a)));
  const parts = order.slice(0, maxCompared).map((name, i) => {
    names[`#c${i}`] = name;
    values[`:c${i}`] = item[name];
    return `#c${i} = :c${i}`;
  });
  return { names, values, parts };
}

const askForOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };

// Writes only what was changed, if what was read is still there. Null: nothing was changed.
export function updateRequest(tableName, keys, before, after) {
  const isKey = new Set(keys.map((key) => key.name));
  const set = Object.keys(after).filter((name) => !isKey.has(name) && !sameValue(after[name], before[name]));
  const removed = Object.keys(before).filter((name) => !isKey.has(name) && !(name in after));
  const added = set.filter((name) => !(name in before));
  if (set.length === 0 && removed.length === 0) return null;
  const { names, values, parts } = unchanged(before, [...set, ...removed]);
  set.forEach((name, i) => { names[`#s${i}`] = name; values[`:s${i}`] = after[name]; });
  removed.forEach((name, i) => { names[`#r${i}`] = name; });
  const absent = added.map((name) => `attribute_not_exists(#s${set.indexOf(name)})`);
  return {
    TableName: tableName, Key: pick(before, keys), ...askForOld,
    UpdateExpression: [set.length > 0 && `SET ${set.map((_, i) => `#s${i} = :s${i}`).join(', ')}`,
      removed.length > 0 && `REMOVE ${removed.map((_, i) => `#r${i}`).join(', ')}`].filter(Boolean).join(' '),
    ConditionExpression: [...parts, ...absent].join(' AND '),
    ExpressionAttributeNames: names, ExpressionAttributeValues: values,
  };
}

export function deleteRequest(tableName, keys, before) {
  const { names, values, parts } = unchanged(before, []);
  return { TableName: tableName, Key: pick(before, keys), ...askForOld, ConditionExpression: parts.join(' AND '), ExpressionAttributeNames: names, ExpressionAttributeValues: values };
}

export function addRequest(tableName, keys, item) {
  return { TableName: tableName, Item: item, ...askForOld, ConditionExpression: 'attribute_not_exists(#k)', ExpressionAttributeNames: { '#k': keys[0].name } };
}
