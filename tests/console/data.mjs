// Tables for the tests of the console.
import { BatchWriteItemCommand, CreateTableCommand, PutItemCommand, UpdateContinuousBackupsCommand, UpdateTimeToLiveCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';

const states = ['open', 'paid', 'shipped', 'returned'];

export function order(i) {
  return {
    customer_id: { S: `cust_${String(i % 50).padStart(3, '0')}` }, order_id: { S: `ord_${String(i).padStart(6, '0')}` }, state: { S: states[i % 4] },
    total: { N: (((i * 37) % 9000) / 100 + 5).toFixed(2) }, placed: { S: `2026-0${(i % 9) + 1}-${String((i % 28) + 1).padStart(2, '0')}` },
    lines: { L: [{ M: { product: { S: `prod_${i % 90}` }, quantity: { N: String((i % 5) + 1) } } }] }, gift: { BOOL: i % 7 === 0 },
  };
}

export async function makeOrders(client, count = 300, TableName = 'Orders') {
  await client.send(new CreateTableCommand({
    TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'customer_id', KeyType: 'HASH' }, { AttributeName: 'order_id', KeyType: 'RANGE' }],
    AttributeDefinitions: ['customer_id', 'order_id', 'state', 'placed'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [{ IndexName: 'by_state', KeySchema: [{ AttributeName: 'state', KeyType: 'HASH' }, { AttributeName: 'placed', KeyType: 'RANGE' }], Projection: { ProjectionType: 'ALL' } }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  }));
  for (let at = 0; at < count; at += 25) {
    const writes = Array.from({ length: Math.min(25, count - at) }, (_, i) => ({ PutRequest: { Item: order(at + i) } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: writes } }));
  }
}

export async function makeEverything(client) {
  await makeOrders(client);
  await client.send(new UpdateTimeToLiveCommand({ TableName: 'Orders', TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true } }));
  await client.send(new UpdateContinuousBackupsCommand({ TableName: 'Orders', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } })).catch(() => {});
  for (const TableName of ['Customers', 'Products', 'Warehouses']) {
    await client.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }] }));
    for (let i = 0; i < 12; ++i) {
      await client.send(new PutItemCommand({ TableName, Item: { id: { S: `${TableName.toLowerCase()}-${i}` }, name: { S: `The ${i + 1}th` }, tags: { SS: ['a', 'b'] }, photo: { B: new Uint8Array([1, 2, 3]) }, more: { NULL: true } } }));
    }
  }
  for (let i = 0; i < 20; ++i) {
    await client.send(new QueryCommand({ TableName: 'Orders', IndexName: 'by_state', KeyConditionExpression: '#s = :s', ExpressionAttributeNames: { '#s': 'state' }, ExpressionAttributeValues: { ':s': { S: states[i % 4] } } }));
    await client.send(new QueryCommand({ TableName: 'Orders', KeyConditionExpression: 'customer_id = :c', ExpressionAttributeValues: { ':c': { S: `cust_00${i % 9}` } } }));
  }
  await client.send(new ScanCommand({ TableName: 'Orders', FilterExpression: 'gift = :t', ExpressionAttributeValues: { ':t': { BOOL: true } } }));
}
