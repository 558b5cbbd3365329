// AWS SDK for JavaScript v3 as a client of itemd's HTTP endpoint: client-dynamodb with its paginators and
// waiters, and lib-dynamodb's document client.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as documents from '@aws-sdk/lib-dynamodb';

const folder = process.env.ITEMDB_ORDER_ENTRY;
const tables = ['Customer', 'Employee', 'Order', 'Product'];
const client = new dynamodb.DynamoDBClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB, maxAttempts: 1 });
const document = documents.DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });

const read = (name) => readFileSync(path.join(folder, name), 'utf8');
const send = (name, input) => client.send(new dynamodb[`${name}Command`](input));
const put = (name, input) => document.send(new documents[`${name}Command`](input));

describe('order entry', () => {
  before(async () => {
    for (const table of tables) {
      await send('CreateTable', JSON.parse(read(`${table}.table.json`)));
      await dynamodb.waitUntilTableExists({ client, maxWaitTime: 100, minDelay: 1 }, { TableName: table });
      const requests = read(`${table}.items.jsonl`).trim().split('\n')
        .map((line) => ({ PutRequest: { Item: JSON.parse(line) } }));
      const reply = await send('BatchWriteItem', { RequestItems: { [table]: requests } });
      assert.deepEqual(reply.UnprocessedItems, {});
    }
  });
  after(async () => {
    for (const table of tables) await send('DeleteTable', { TableName: table });
  });

  for (const pattern of JSON.parse(read('patterns.json'))) {
    it(`pattern ${pattern.Pattern}, ${pattern.Name}, has the document's answer`, async () => {
      const found = [];
      for (const { Operation, Request } of pattern.Requests) {
        const reply = await send(Operation, Request);
        found.push(...(reply.Items ?? (reply.Item ? [reply.Item] : [])));
      }
      assert.deepEqual(found, pattern.Items);
    });
  }
});

describe('document client', () => {
  const TableName = 'documents';
  before(async () => {
    await send('CreateTable', {
      TableName, BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'N' },
        { AttributeName: 'kind', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
      GlobalSecondaryIndexes: [{
        IndexName: 'by-kind', KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' } }],
    });
  });
  after(() => send('DeleteTable', { TableName }));

  it('brings every type back', async () => {
    const item = {
      pk: 'types', sk: -12.5, text: 'Zürich \u0001 "\\/', empty: '', yes: true, none: null,
      bytes: new Uint8Array([0, 255, 128]), texts: new Set(['a', 'b']), numbers: new Set([1, 2.5]),
      list: [1, 'two', [true, null, {}]], map: { 'a.b': { '#c': [3] } },
    };
    await put('Put', { TableName, Item: item });
    const reply = await put('Get', { TableName, Key: { pk: 'types', sk: -12.5 }, ConsistentRead: true });
    assert.deepEqual(reply.Item, item);
  });

  it('updates under a condition, once', async () => {
    await put('Put', { TableName, Item: { pk: 'order', sk: 1, kind: 'open', parts: ['a'] } });
    const close = {
      TableName, Key: { pk: 'order', sk: 1 }, UpdateExpression: 'SET #k = :closed, parts = list_append(parts, :b)',
      ConditionExpression: '#k = :open', ExpressionAttributeNames: { '#k': 'kind' },
      ExpressionAttributeValues: { ':closed': 'closed', ':open': 'open', ':b': ['b'] }, ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    const reply = await put('Update', close);
    assert.deepEqual(reply.Attributes, { pk: 'order', sk: 1, kind: 'closed', parts: ['a', 'b'] });
    await assert.rejects(put('Update', close), (error) => {
      assert.ok(error instanceof dynamodb.ConditionalCheckFailedException);
      assert.deepEqual(error.Item.kind, { S: 'closed' });
      return true;
    });
  });

  it('keeps a table that is protected', async () => {
    const protect = (enabled) => send('UpdateTable', { TableName, DeletionProtectionEnabled: enabled });
    assert.equal((await protect(true)).TableDescription.DeletionProtectionEnabled, true);
    await assert.rejects(send('DeleteTable', { TableName }), { name: 'ValidationException' });
    assert.equal((await protect(false)).TableDescription.DeletionProtectionEnabled, false);
  });

  it('pages through a query, a scan and an index', async () => {
    for (let first = 0; first < 200; first += 25) {
      const requests = Array.from({ length: 25 }, (_, i) => (
        { PutRequest: { Item: { pk: 'pages', sk: first + i, kind: i % 2 ? 'odd' : 'even' } } }));
      await put('BatchWrite', { RequestItems: { [TableName]: requests } });
    }
    const config = { client: document, pageSize: 30 };
    const numbers = [];
    for await (const page of documents.paginateQuery(config, {
      TableName, KeyConditionExpression: 'pk = :p AND sk BETWEEN :a AND :b', ScanIndexForward: false,
      ExpressionAttributeValues: { ':p': 'pages', ':a': 50, ':b': 149 } })) {
      numbers.push(...page.Items.map((item) => item.sk));
    }
    assert.deepEqual(numbers, Array.from({ length: 100 }, (_, i) => 149 - i));
    let odd = 0;
    for await (const page of documents.paginateQuery(config, {
      TableName, IndexName: 'by-kind', KeyConditionExpression: 'kind = :odd', Select: 'COUNT',
      ExpressionAttributeValues: { ':odd': 'odd' } })) {
      odd += page.Count;
    }
    assert.equal(odd, 96);
    let scanned = 0;
    for await (const page of documents.paginateScan(config, { TableName })) scanned += page.Count;
    assert.equal(scanned, 202);
  });

  it('transacts all or nothing', async () => {
    const actions = (condition) => [
      { Put: { TableName, Item: { pk: 'transaction', sk: 1 } } },
      { ConditionCheck: { TableName, Key: { pk: 'transaction', sk: 2 }, ConditionExpression: condition } },
    ];
    await assert.rejects(put('TransactWrite', { TransactItems: actions('attribute_exists(pk)') }), (error) => {
      assert.ok(error instanceof dynamodb.TransactionCanceledException);
      assert.deepEqual(error.CancellationReasons.map((reason) => reason.Code), ['None', 'ConditionalCheckFailed']);
      return true;
    });
    await put('TransactWrite', { TransactItems: actions('attribute_not_exists(pk)'), ClientRequestToken: 'once' });
    const reply = await put('TransactGet', {
      TransactItems: [1, 2].map((sk) => ({ Get: { TableName, Key: { pk: 'transaction', sk } } })) });
    assert.deepEqual(reply.Responses.map((response) => response.Item), [{ pk: 'transaction', sk: 1 }, undefined]);
  });

  it('tells what is wrong with a request', async () => {
    await assert.rejects(put('Get', { TableName, Key: { pk: 'no sort key' } }), (error) => {
      assert.equal(error.name, 'ValidationException');
      assert.match(error.message, /^The provided key element does not match the schema/);
      assert.equal(error.$metadata.httpStatusCode, 400);
      assert.match(error.$metadata.requestId, /^[0-9A-Z]{52}$/);
      return true;
    });
    await assert.rejects(put('Get', { TableName: 'nowhere', Key: { pk: 'x' } }), dynamodb.ResourceNotFoundException);
  });
});
