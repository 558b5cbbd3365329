// dynamodb-admin, a web application for DynamoDB: its pages list the tables and items of itemd in a real browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { chromium } from 'playwright-core';

const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
const client = new DynamoDBClient({ endpoint, maxAttempts: 1 });
const TableName = 'ShownInABrowser';

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

describe('dynamodb-admin', () => {
  let admin;
  let browser;
  let url;
  before(async () => {
    await client.send(new CreateTableCommand({
      TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    }));
    for (const name of ['first-item', 'second-item']) {
      await client.send(new PutItemCommand({ TableName, Item: { pk: { S: name }, note: { S: `note of ${name}` } } }));
    }
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    admin = spawn(process.execPath, ['node_modules/dynamodb-admin/dist/dynamodb-admin.js', '--host', '127.0.0.1',
      '--port', String(port), '--dynamo-endpoint', endpoint, '--skip-default-credentials'],
    { stdio: ['ignore', 'inherit', 'inherit'] });
    for (let tries = 0; ; ++tries) {
      try {
        await fetch(url);
        break;
      } catch (error) {
        if (tries === 600 || admin.exitCode !== null) throw error;
        await sleep(100);
      }
    }
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu',
      '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync'] });
  });
  after(async () => {
    await browser?.close();
    admin?.kill();
    await client.send(new DeleteTableCommand({ TableName }));
  });

  it('lists the tables', async () => {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByText(TableName).first().waitFor();
    await page.close();
  });

  it('lists the items of a table', async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/tables/${TableName}`);
    // The page shows values as JSON.
    for (const text of ['"first-item"', '"second-item"', '"note of second-item"']) {
      await page.getByText(text, { exact: true }).first().waitFor();
    }
    await page.close();
  });

  it('shows one item', async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/tables/${TableName}/items/first-item`);
    assert.match(await page.content(), /note of first-item/);
    await page.close();
  });
});
