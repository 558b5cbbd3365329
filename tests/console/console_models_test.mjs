// The access patterns of a model folder in the console: the folder is opened in Chromium, and one click runs a pattern.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { BatchWriteItemCommand, CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { Itemd, openBrowser, signIn } from './itemd.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const examples = process.env.ITEMDB_EXAMPLES;
const orders = join(examples, 'order_entry');
const { fill, isExpected, readPatterns, valueOf } = await import(pathToFileURL(join(process.env.ITEMDB_CONSOLE_SOURCE, 'models.js')));

async function load(client, folder) {
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.table.json')) continue;
    const definition = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    await client.send(new CreateTableCommand(definition));
    const items = join(folder, file.replace('.table.json', '.items.jsonl'));
    const lines = readFileSync(items, 'utf8').split('\n').filter(Boolean).map((line) => ({ PutRequest: { Item: JSON.parse(line) } }));
    for (let at = 0; at < lines.length; at += 25) await client.send(new BatchWriteItemCommand({ RequestItems: { [definition.TableName]: lines.slice(at, at + 25) } }));
  }
}

describe('requests of patterns', () => {
  it('take values as itemctl model does', () => {
    const parameters = [{ name: ':c', value: { S: 'cust' } }, { name: ':cc', value: { S: 'other' } }];
    const request = { TableName: 'T', KeyConditionExpression: 'a = :c', ExpressionAttributeValues: { ':c': { S: 'old' } } };
    assert.deepEqual(fill('Query', request, parameters).ExpressionAttributeValues, { ':c': { S: 'cust' } });
    assert.deepEqual(request.ExpressionAttributeValues, { ':c': { S: 'old' } });
    assert.deepEqual(fill('GetItem', { Key: { id: ':c', text: { S: ':c' } } }, parameters).Key, { id: { S: 'cust' }, text: { S: ':c' } });
    assert.deepEqual(valueOf('12.50', { N: '1' }), { N: '12.50' });
    assert.deepEqual(valueOf('12', { S: '1' }), { S: '12' });
    assert.deepEqual(valueOf('{"N": "7"}', null), { N: '7' });
    assert.deepEqual(valueOf('cust_002', null), { S: 'cust_002' });
  });
  it('offer no field for what differs between requests', () => {
    const query = (shard) => ({ Operation: 'Query', Request: { KeyConditionExpression: 's = :s AND d > :d', ExpressionAttributeValues: { ':s': { N: shard }, ':d': { S: '2026' } } } });
    const [one] = readPatterns(JSON.stringify([{ Name: 'n', Parameters: { ':p': null }, Requests: [query('0'), query('1'), query('1')] }]));
    assert.deepEqual(one.parameters, [{ name: ':p', value: null }, { name: ':d', value: { S: '2026' } }]);
  });
  it('compare answers', () => {
    const [a, b] = [{ id: { S: 'a' } }, { id: { S: 'b' } }];
    assert.ok(isExpected([a, b], [a, b], false));
    assert.ok(!isExpected([b, a], [a, b], false));
    assert.ok(isExpected([b, a], [a, b], true));
    assert.ok(!isExpected([a, a], [a, b], true));
    assert.ok(!isExpected([a], [a, b], true));
  });
  it('are found in every example', () => {
    const folders = readdirSync(examples).map((name) => join(examples, name, 'patterns.json'));
    const found = folders.flatMap((path) => { try { return [readFileSync(path, 'utf8')]; } catch { return []; } }).map(readPatterns);
    assert.ok(found.length >= 2 && found.every((patterns) => patterns.length > 0));
  });
});

describe('a model folder', () => {
  let itemd;
  let browser;
  let work;
  before(async () => {
    itemd = await Itemd.start();
    await load(itemd.client, orders);
    browser = await openBrowser();
    work = mkdtempSync(join(tmpdir(), 'itemdb-models-'));
  });
  after(async () => {
    await browser?.close();
    rmSync(work, { recursive: true, force: true });
    assert.equal(await itemd?.stop(), 0);
  });
  const made = (name, files) => {
    const folder = join(work, name);
    mkdirSync(folder);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    return folder;
  };
  const patternsPage = async (id) => {
    const page = await browser.newPage();
    await signIn(page, itemd.url, id);
    await page.goto(`${itemd.url}/#/patterns`);
    return page;
  };

  it('runs each of its patterns with one click, for a reader too', async () => {
    const page = await patternsPage('READER');
    await page.getByLabel('Model folder').setInputFiles(orders);
    const patterns = readPatterns(readFileSync(join(orders, 'patterns.json'), 'utf8')).filter((one) => !one.writes);
    assert.ok(patterns.length >= 15);
    for (const { name } of patterns) {
      await page.getByRole('button', { name: `Run ${name}`, exact: true }).click();
      await page.getByRole('region', { name, exact: true }).getByText('as the folder expects').waitFor();
    }
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run());
    assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`), []);
    await page.close();
  });

  it('runs a pattern with other values, and says what differs', async () => {
    const page = await patternsPage('READER');
    const request = { Operation: 'GetItem', Request: { TableName: 'Employee', Key: { employee_id: ':who' } } };
    const folder = made('mine', { 'patterns.json': JSON.stringify([
      { Name: 'one', Parameters: { ':who': { S: 'emp_001' } }, Requests: [request], Items: [{ employee_id: { S: 'emp_009' } }] },
      { Name: 'asks', Parameters: { ':who': null }, Requests: [request] },
      { Name: 'absent', Requests: [{ Operation: 'Scan', Request: { TableName: 'Nowhere' } }] },
      { Name: 'writes', Requests: [{ Operation: 'PutItem', Request: { TableName: 'Employee', Item: {} } }] }]) });
    await page.getByLabel('Model folder').setInputFiles(folder);
    const one = page.getByRole('region', { name: 'one', exact: true });
    await one.getByRole('button').click();
    await one.getByText('differs from the folder').waitFor();
    await one.getByText('John Smith').waitFor();
    await one.getByLabel(':who').fill('emp_404');
    await one.getByRole('button').click();
    await one.getByText('0 items; 1 call').waitFor();
    assert.equal(await one.getByText('differs').count(), 0);
    const asks = page.getByRole('region', { name: 'asks', exact: true });
    await asks.getByRole('button').click();
    await asks.getByText(':who needs a value').waitFor();
    await asks.getByLabel(':who').fill('emp_001');
    await asks.getByRole('button').click();
    await asks.getByText('John Smith').waitFor();
    const absent = page.getByRole('region', { name: 'absent', exact: true });
    await absent.getByRole('button').click();
    await absent.getByRole('alert').getByText('itemctl model apply').waitFor();
    const writes = page.getByRole('region', { name: 'writes', exact: true });
    await writes.getByText('itemctl model run --writes').waitFor();
    assert.equal(await writes.getByRole('button').count(), 0);
    await page.close();
  });

  it('says what is wrong with a folder', async () => {
    const page = await patternsPage('READER');
    for (const [name, files, message] of [['empty', { 'README.md': '' }, 'empty has no patterns.json'], ['broken', { 'patterns.json': '[{' }, 'patterns.json is not JSON'],
      ['nameless', { 'patterns.json': '[{}]' }, 'pattern 1 of patterns.json has no Name'], ['other', { 'patterns.json': '{}' }, 'must be an array']]) {
      await page.getByLabel('Model folder').setInputFiles(made(name, files));
      await page.getByRole('alert').getByText(message).waitFor();
    }
    await page.close();
  });
});
