// ElectroDB, a single-table mapper, as a client: entities, a collection over one index, conditions, batches.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Entity, Service } from 'electrodb';

const client = new DynamoDBClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB, maxAttempts: 1 });
const table = 'electro';

const employee = new Entity({
  model: { entity: 'employee', version: '1', service: 'hr' },
  attributes: {
    employee: { type: 'string', required: true }, team: { type: 'string', required: true },
    title: { type: 'string' }, salary: { type: 'number' }, tags: { type: 'set', items: 'string' },
  },
  indexes: {
    primary: { pk: { field: 'pk', composite: ['employee'] }, sk: { field: 'sk', composite: [] } },
    byTeam: { index: 'gsi1', collection: 'members', pk: { field: 'gsi1pk', composite: ['team'] },
      sk: { field: 'gsi1sk', composite: ['employee'] } },
  },
}, { client, table });

const task = new Entity({
  model: { entity: 'task', version: '1', service: 'hr' },
  attributes: {
    task: { type: 'string', required: true }, team: { type: 'string', required: true },
    state: { type: ['open', 'closed'], required: true, default: 'open' }, points: { type: 'number' },
  },
  indexes: {
    primary: { pk: { field: 'pk', composite: ['task'] }, sk: { field: 'sk', composite: [] } },
    byTeam: { index: 'gsi1', collection: 'members', pk: { field: 'gsi1pk', composite: ['team'] },
      sk: { field: 'gsi1sk', composite: ['state', 'task'] } },
  },
}, { client, table });

const service = new Service({ employee, task }, { client, table });

describe('ElectroDB', () => {
  const key = (hash, range) => [{ AttributeName: hash, KeyType: 'HASH' }, { AttributeName: range, KeyType: 'RANGE' }];
  before(() => client.send(new CreateTableCommand({
    TableName: table, BillingMode: 'PAY_PER_REQUEST', KeySchema: key('pk', 'sk'),
    AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [{ IndexName: 'gsi1', KeySchema: key('gsi1pk', 'gsi1sk'),
      Projection: { ProjectionType: 'ALL' } }],
  })));
  after(() => client.send(new DeleteTableCommand({ TableName: table })));

  it('creates once, patches what is there', async () => {
    await employee.create({ employee: 'ann', team: 'blue', title: 'engineer', salary: 10, tags: ['a'] }).go();
    await assert.rejects(employee.create({ employee: 'ann', team: 'blue' }).go(), /conditional request failed/);
    await employee.patch({ employee: 'ann' }).add({ salary: 5, tags: ['b'] }).set({ title: 'lead' }).go();
    const { data } = await employee.get({ employee: 'ann' }).go();
    assert.deepEqual(data, { employee: 'ann', team: 'blue', title: 'lead', salary: 15, tags: ['a', 'b'] });
    await assert.rejects(employee.patch({ employee: 'nobody' }).set({ title: 'x' }).go(), /conditional request/);
  });

  it('reads a collection of two entities in one query', async () => {
    await task.put(Array.from({ length: 30 }, (_, i) => (
      { task: `t${String(i).padStart(2, '0')}`, team: 'blue', state: i % 3 ? 'open' : 'closed', points: i }))).go();
    const { data } = await service.collections.members({ team: 'blue' }).go({ pages: 'all' });
    assert.equal(data.employee.length, 1);
    assert.equal(data.task.length, 30);
  });

  it('queries a prefix of a sort key, with a filter, by pages', async () => {
    const found = [];
    let cursor = null;
    do {
      const page = await task.query.byTeam({ team: 'blue', state: 'open' })
        .where(({ points }, { gte }) => gte(points, 10)).go({ cursor, limit: 7 });
      found.push(...page.data.map((each) => each.points));
      cursor = page.cursor;
    } while (cursor !== null);
    assert.deepEqual(found, [10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29]);
  });

  it('writes in a transaction', async () => {
    const move = () => service.transaction.write(({ employee: e, task: t }) => [
      e.patch({ employee: 'ann' }).set({ team: 'red' }).commit(),
      t.create({ task: 'move', team: 'red' }).commit(),
    ]).go();
    assert.equal((await move()).canceled, false);
    assert.equal((await move()).canceled, true);
    await task.delete([{ task: 'move' }, { task: 't00' }]).go();
    assert.equal((await task.get({ task: 'move' }).go()).data, null);
  });
});
