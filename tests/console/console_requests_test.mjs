// What the page makes of what a person has filled in: requests, values, and code to copy, which is run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeOrders } from './data.mjs';
import { Itemd, secret } from './itemd.mjs';

const source = (file) => pathToFileURL(`${process.env.ITEMDB_CONSOLE_SOURCE}/${file}`);
const { addRequest, deleteRequest, formOfPattern, itemAsCode, placesOf, readAsCode, readRequest, updateRequest } = await import(source('requests.js'));
const { checkTyped, fromPlain, itemFromMessage, itemToMessage, itemToPlain, sameValue, size, duration, whyNotPlain } = await import(source('values.js'));

const keys = [{ name: 'pk', type: 'S', range: false }, { name: 'sk', type: 'N', range: true }];
const table = { index: '', keys };
const form = (parts) => ({ index: '', keys: {}, filters: [], descending: false, limit: '100', ...parts });

describe('reads', () => {
  it('are queries when the partition key is given, else scans', () => {
    assert.equal(readRequest('T', table, form({})).operation, 'Scan');
    const query = readRequest('T', table, form({ keys: { pk: { value: 'a' }, sk: { op: 'between', value: '1', value2: '2.5' } }, descending: true }));
    assert.deepEqual([query.operation, query.keyCondition, query.names, query.values, query.descending],
      ['Query', '#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2', { '#n0': 'pk', '#n1': 'sk' }, { ':v0': { S: 'a' }, ':v1': { N: '1' }, ':v2': { N: '2.5' } }, true]);
  });
  it('say what is missing or wrong', () => {
    assert.throws(() => readRequest('T', table, form({ keys: { sk: { op: 'gt', value: '1' } } })), /give a value for pk/);
    assert.throws(() => readRequest('T', table, form({ keys: { pk: { value: 'a' }, sk: { op: 'gt', value: 'many' } } })), /sk must be a number/);
  });
  it('have the form of an access pattern', () => {
    assert.deepEqual(formOfPattern('state = ? AND placed BETWEEN ? AND ?', 'total > ? AND contains(note, ?) AND attribute_not_exists(gone) AND (a = ? OR b = ?)'), {
      keys: { state: { op: 'eq', value: '', value2: '' }, placed: { op: 'between', value: '', value2: '' } },
      filters: [{ name: 'total', op: 'gt', type: 'S', value: '' }, { name: 'note', op: 'contains', type: 'S', value: '' }, { name: 'gone', op: 'missing', type: 'S', value: '' }],
    });
    assert.deepEqual(formOfPattern('-', '-'), { keys: {}, filters: [] });
  });
  it('use one name for an attribute that is in the key and in the filter', () => {
    const read = readRequest('T', table, form({ keys: { pk: { value: 'a' } }, filters: [{ name: 'pk', op: 'ne', type: 'S', value: 'b' }, { name: 'm.deep', op: 'exists' }, { name: '', op: 'eq', type: 'S', value: '' }] }));
    assert.deepEqual(read.names, { '#n0': 'pk', '#n1': 'm', '#n2': 'deep' });
    assert.equal(read.filter, '#n0 <> :v1 AND attribute_exists(#n1.#n2)');
  });
});

describe('writes', () => {
  const before_ = { pk: { S: 'a' }, sk: { N: '1' }, kept: { S: 'x' }, changed: { N: '1' }, gone: { BOOL: true } };
  it('change what was changed, if everything that was read is still there', () => {
    const request = updateRequest('T', keys, before_, { pk: { S: 'a' }, sk: { N: '1' }, kept: { S: 'x' }, changed: { N: '2' }, fresh: { NULL: true } });
    assert.deepEqual(request.Key, { pk: { S: 'a' }, sk: { N: '1' } });
    assert.equal(request.UpdateExpression, 'SET #s0 = :s0, #s1 = :s1 REMOVE #r0');
    assert.deepEqual([request.ExpressionAttributeNames['#s0'], request.ExpressionAttributeNames['#s1'], request.ExpressionAttributeNames['#r0']], ['changed', 'fresh', 'gone']);
    assert.match(request.ConditionExpression, /^#c0 = :c0 AND .* AND attribute_not_exists\(#s1\)$/);
    assert.equal(Object.keys(request.ExpressionAttributeNames).filter((name) => name.startsWith('#c')).length, 5);
    assert.equal(updateRequest('T', keys, before_, { ...before_ }), null);
  });
  it('compare at most as many attributes as an expression can hold, the changed ones first', () => {
    const large = Object.fromEntries([...Array(400)].map((_, i) => [`a${i}`, { N: String(i) }]));
    const request = updateRequest('T', keys, { ...before_, ...large }, { ...before_, ...large, a399: { N: '0' } });
    assert.equal(request.ConditionExpression.split(' AND ').length, 100);
    assert.equal(request.ExpressionAttributeNames['#c0'], 'a399');
  });
  it('delete and add under a condition', () => {
    assert.equal(deleteRequest('T', keys, before_).ConditionExpression.split(' AND ').length, 5);
    assert.equal(addRequest('T', keys, before_).ConditionExpression, 'attribute_not_exists(#k)');
  });
});

describe('values', () => {
  const every = { s: { S: 'text' }, n: { N: '1.5' }, b: { B: 'AQI=' }, t: { BOOL: true }, z: { NULL: true }, ss: { SS: ['a'] }, ns: { NS: ['1'] }, bs: { BS: ['AQ=='] }, l: { L: [{ S: 'x' }, { M: { y: { N: '1' } } }] }, m: { M: {} } };
  it('are the same after gRPC\'s form', () => assert.deepEqual(itemFromMessage(itemToMessage(every)), every));
  it('have a plain form unless it would lose something', () => {
    assert.match(whyNotPlain(every), /b is binary/);
    assert.match(whyNotPlain({ a: { L: [{ NS: ['1'] }] } }), /a is a set/);
    assert.match(whyNotPlain({ a: { N: '12345678901234567890' } }), /more digits/);
    const plain = { s: 'text', n: 1.5, t: false, z: null, l: [1, { y: 'x' }] };
    assert.equal(whyNotPlain(fromPlain(plain).M), null);
    assert.deepEqual(itemToPlain(fromPlain(plain).M), plain);
  });
  it('are compared by content, not by order', () => {
    assert.ok(sameValue({ M: { a: { S: '1' }, b: { SS: ['x', 'y'] } } }, { M: { b: { SS: ['y', 'x'] }, a: { S: '1' } } }));
    assert.ok(!sameValue({ L: [{ N: '1' }, { N: '2' }] }, { L: [{ N: '2' }, { N: '1' }] }));
    assert.ok(!sameValue({ S: '1' }, { N: '1' }));
    assert.ok(!sameValue(undefined, { S: '' }));
  });
  it('that are wrong are named', () => {
    assert.throws(() => checkTyped({ a: { M: { b: { L: [{ S: 'x', N: '1' }] } } } }), /^Error: a\.b\[0\] must be an object with one type/);
    assert.throws(() => checkTyped({ a: { N: 1 } }), /a: N must be text/);
    assert.throws(() => checkTyped([]), /an item is an object/);
  });
  it('are written for people', () => {
    assert.deepEqual([size(0), size(1023), size(1536), size(5 * 2 ** 30)], ['0 B', '1023 B', '1.5 KiB', '5.0 GiB']);
    assert.deepEqual([duration(0), duration(0.0000542), duration(0.0123), duration(90)], ['0', '54 µs', '12 ms', '2 min']);
  });
});

describe('code to copy', () => {
  let itemd;
  before(async () => {
    itemd = await Itemd.start();
    await makeOrders(itemd.client, 100);
  });
  after(async () => assert.equal(await itemd?.stop(), 0));

  const run = (program, args, input) => {
    const ended = spawnSync(program, args, { input, encoding: 'utf8', env: { ...process.env, HOME: itemd.directory, ITEMDB_SECRET_ACCESS_KEY: secret, ITEMDB_ACCESS_KEY_ID: 'ADMIN',
      AWS_ACCESS_KEY_ID: 'ADMIN', AWS_SECRET_ACCESS_KEY: secret, AWS_DEFAULT_REGION: 'local', PYTHONDONTWRITEBYTECODE: '1', PATH: `${itemd.programs}:${process.env.PATH}` } });
    assert.equal(ended.status, 0, `${program} ${args.join(' ')}: ${ended.stderr}`);
    return ended.stdout;
  };
  const places = () => ({ grpc: itemd.grpc, http: itemd.http });
  const reads = () => {
    const source_ = { index: 'by_state', keys: [{ name: 'state', type: 'S', range: false }, { name: 'placed', type: 'S', range: true }] };
    const orders = { index: '', keys: [{ name: 'customer_id', type: 'S', range: false }, { name: 'order_id', type: 'S', range: true }] };
    return [
      [readRequest('Orders', orders, form({ filters: [{ name: 'gift', op: 'eq', type: 'BOOL', value: 'true' }, { name: 'note', op: 'missing' }] })), 15],
      [readRequest('Orders', orders, form({ keys: { customer_id: { value: "it's" } } })), 0],
      [readRequest('Orders', source_, form({ keys: { state: { value: 'paid' }, placed: { op: 'lt', value: '2026-05' } }, filters: [{ name: 'total', op: 'gt', type: 'N', value: '20' }], descending: true, limit: '50' })), null],
    ];
  };
  it('of reads gives what the page shows', () => {
    for (const [read, expected] of reads()) {
      const code = readAsCode(read, places());
      const lines = run('bash', ['-c', `${code.itemctl} -o jsonl --access-key-id ADMIN`]).split('\n').filter(Boolean).length;
      if (expected !== null) assert.equal(lines, expected, code.itemctl);
      else assert.ok(lines > 0);
      assert.equal(JSON.parse(run('bash', ['-c', `${code['AWS CLI']} --output json`])).Items.length, lines);
      assert.equal(run('/usr/bin/python3', ['-'], `${code.Python}\nprint(len(page["Items"]))`).trim(), String(lines));
    }
  });
  it('of an item gives the item', () => {
    const code = itemAsCode('Orders', { customer_id: { S: 'cust_001' }, order_id: { S: 'ord_000001' } }, places());
    assert.match(run('bash', ['-c', `${code.itemctl} -o json --access-key-id ADMIN`]), /"paid"/);
    assert.match(run('bash', ['-c', code['AWS CLI']]), /"paid"/);
    assert.match(run('/usr/bin/python3', ['-'], `${code.Python}\nprint(item)`), /paid/);
  });
  it('names the addresses of this itemd', () => {
    assert.deepEqual(placesOf({ grpc_address: '0.0.0.0:7420', http_address: '[::]:8000', tls: true }, 'db.example'), { grpc: 'db.example:7420', http: 'https://db.example:8000' });
    assert.deepEqual(placesOf({ grpc_address: 'unix:/run/itemd.sock', http_address: '' }, 'x'), { grpc: 'unix:/run/itemd.sock', http: '' });
    const code = itemAsCode('Orders', { id: { S: 'a' } }, { grpc: '', http: '' });
    assert.match(code.Python, /^# .*--http-listen\.$/);
    assert.match(code.itemctl, /^itemctl item get /);
  });
  it('in C++ compiles', () => {
    const blocks = reads().map(([read]) => readAsCode(read, places())['C++']);
    blocks.push(itemAsCode('Orders', { customer_id: { S: 'a' }, order_id: { N: '1.5' } }, places())['C++']);
    const program = `#include <itemdb/client.h>\nvoid Use(itemdb::Client& client) {\n${blocks.map((one) => `{ ${one} }`).join('\n')}\n}\n`;
    run('g++', ['-std=c++20', '-fsyntax-only', `-I${process.env.ITEMDB_CLIENT_HEADERS}`, '-x', 'c++', '-'], program);
  });
});
