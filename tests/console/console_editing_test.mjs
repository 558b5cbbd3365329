// Writing with the console: only when asked, never over somebody else's change, and nothing typed is lost.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteItemCommand, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { makeOrders, order } from './data.mjs';
import { Itemd, openBrowser, secret, signIn, usualKeys } from './itemd.mjs';

const Key = { customer_id: { S: 'cust_001' }, order_id: { S: 'ord_000001' } };

describe('editing', () => {
  let itemd;
  let browser;
  let page;
  before(async () => {
    itemd = await Itemd.start();
    await makeOrders(itemd.client, 50);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    assert.equal(await itemd?.stop(), 0);
  });

  const read = async () => (await itemd.client.send(new GetItemCommand({ TableName: 'Orders', Key }))).Item;
  const turnOn = async () => {
    await page.getByRole('switch', { name: 'Editing' }).click();
    await page.locator('[role=switch][aria-checked=true]').waitFor();
  };
  // Opens the item of Key in a context of its own.
  const open = async (id = 'WRITER', editing = true) => {
    const context = await browser.newContext();
    page = await context.newPage();
    await signIn(page, itemd.url, id);
    if (editing) await turnOn();
    await page.goto(`${itemd.url}/#/tables/Orders/items`);
    await page.getByLabel('Value of customer_id').fill('cust_001');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Query of the table').waitFor();
    await page.getByRole('button', { name: 'cust_001' }).first().click();
    await page.getByRole('dialog').waitFor();
  };
  const text = () => page.getByRole('textbox', { name: /^Item as/ });
  const edit = async (change) => {
    const item = JSON.parse(await text().inputValue());
    change(item);
    await text().fill(JSON.stringify(item));
  };
  const close = () => page.context().close();

  it('is refused until it is turned on', async () => {
    await open('WRITER', false);
    assert.equal(await text().getAttribute('readonly'), '');
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    // What the page does not offer the server refuses too.
    const status = await page.evaluate(async () => {
      const reply = await fetch('/api', { method: 'POST', headers: { 'X-Itemdb-Session': localStorage.getItem('itemdb.session'), 'X-Amz-Target': 'DynamoDB_20120810.DeleteTable' }, body: '{"TableName":"Orders"}' });
      return reply.status;
    });
    assert.equal(status, 403);
    await page.getByRole('button', { name: 'Turn on editing' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    await close();
  });

  it('is not offered to a key that may only read', async () => {
    await open('READER', false);
    await page.getByText('This key may only read.').waitFor();
    assert.equal(await page.getByRole('switch').count(), 0);
    await close();
  });

  it('writes what was changed and nothing else', async () => {
    await open();
    await edit((item) => { item.state = { S: 'paid' }; delete item.gift; item.note = { S: 'leave it' }; });
    // Somebody adds an attribute that is not in the form.
    await itemd.client.send(new UpdateItemCommand({ TableName: 'Orders', Key, UpdateExpression: 'SET extra = :one', ExpressionAttributeValues: { ':one': { N: '1' } } }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The item was saved.').waitFor();
    const item = await read();
    assert.deepEqual([item.state, item.gift, item.note, item.extra], [{ S: 'paid' }, undefined, { S: 'leave it' }, { N: '1' }]);
    await close();
  });

  it('tells of an item that was changed since it was shown', async () => {
    await open();
    await edit((item) => { item.state = { S: 'mine' }; });
    await itemd.client.send(new UpdateItemCommand({ TableName: 'Orders', Key, UpdateExpression: 'SET #s = :s', ExpressionAttributeNames: { '#s': 'state' }, ExpressionAttributeValues: { ':s': { S: 'theirs' } } }));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The item was changed since you opened it.').waitFor();
    await page.locator('.diff').getByText('theirs').waitFor();
    assert.match(await text().inputValue(), /mine/, 'the text is kept');
    assert.deepEqual((await read()).state, { S: 'theirs' });
    await page.getByRole('button', { name: 'Keep my text' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The item was saved.').waitFor();
    assert.deepEqual((await read()).state, { S: 'mine' });
    await close();
  });

  it('tells of an item that was deleted or changed before it is deleted', async () => {
    await open();
    await itemd.client.send(new UpdateItemCommand({ TableName: 'Orders', Key, UpdateExpression: 'SET #t = :t', ExpressionAttributeNames: { '#t': 'total' }, ExpressionAttributeValues: { ':t': { N: '99' } } }));
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the item' }).click();
    await page.getByText('The item was changed since you opened it.').waitFor();
    assert.ok(await read());
    await page.getByRole('button', { name: 'Show the item of now' }).click();
    await itemd.client.send(new DeleteItemCommand({ TableName: 'Orders', Key }));
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the item' }).click();
    await page.getByText('The item was deleted since you opened it.').waitFor();
    await itemd.client.send(new PutItemCommand({ TableName: 'Orders', Item: order(1) }));
    await close();
  });

  it('deletes and adds', async () => {
    await open();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the item' }).click();
    await page.getByText('The item was deleted.').waitFor();
    assert.equal(await read(), undefined);
    await page.getByRole('button', { name: 'Add an item' }).click();
    await text().fill(JSON.stringify(order(1)));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('The item was added.').waitFor();
    assert.equal(Number((await read()).total.N), Number(order(1).total.N));
    await page.getByRole('button', { name: 'Add an item' }).click();
    await text().fill(JSON.stringify(order(1)));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('There is an item with this key already.').waitFor();
    await close();
  });

  it('says what is wrong with the text', async () => {
    await open();
    for (const [wrong, said] of [['{', /this is not JSON/], ['{"a": 1}', /a must be an object with one type/], ['{"customer_id": {"S": "x"}, "order_id": {"S": "y"}}', /customer_id is a key attribute and cannot be changed/],
      ['{"order_id": {"S": "y"}}', /the key attribute customer_id is missing/], [JSON.stringify({ ...order(1), total: { N: 'many' } }), /numeric|number/i]]) {
      await text().fill(wrong);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').getByRole('alert').getByText(said).waitFor();
    }
    await close();
  });

  it('keeps what was typed when the session ends', async () => {
    await open();
    await edit((item) => { item.state = { S: 'kept while signed out' }; });
    // The session of a key ends when its secret or role changes.
    itemd.writeKeys(usualKeys.map((key) => (key.id === 'WRITER' ? { ...key, role: 'admin' } : key)));
    for (;;) {
      await page.getByRole('button', { name: 'Save' }).click();
      const ended = page.getByText('Your session has ended. What you have typed');
      const saved = page.getByText('The item was saved.');
      await ended.or(saved).first().waitFor();
      if (await ended.isVisible()) break;
      // The key file was not read yet: once more.
      await page.getByRole('button', { name: 'cust_001' }).first().click();
      await edit((item) => { item.state = { S: `kept while signed out ${Date.now()}` }; });
    }
    await page.getByLabel('Access key id').fill('WRITER');
    await page.getByLabel('Secret access key').fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Your session has ended. What you have typed').waitFor({ state: 'detached' });
    assert.match(await text().inputValue(), /kept while signed out/);
    // The new session only reads, as every new session does.
    await page.getByRole('button', { name: 'Turn on editing' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The item was saved.').waitFor();
    assert.match((await read()).state.S, /^kept while signed out/);
    itemd.writeKeys(usualKeys);
    await close();
  });

  it('lets a key with a role for some tables see and write those', async () => {
    const context = await browser.newContext();
    page = await context.newPage();
    await signIn(page, itemd.url, 'ORDERS');
    await page.locator('main').getByText('Orders').first().waitFor();
    await page.goto(`${itemd.url}/#/audit`);
    await page.getByText(/not authorized/).waitFor();
    await turnOn();
    await page.goto(`${itemd.url}/#/tables/Orders/items`);
    await page.getByRole('button', { name: 'cust_' }).first().click();
    await edit((item) => { item.by = { S: 'ORDERS' }; });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The item was saved.').waitFor();
    await close();
  });
});

describe('going back', () => {
  it('shows what differs from an earlier time, and restores it into a new table', async () => {
    const itemd = await Itemd.start();
    const browser = await openBrowser();
    try {
      await makeOrders(itemd.client, 20);
      const page = await browser.newPage();
      await signIn(page, itemd.url);
      await page.getByRole('switch', { name: 'Editing' }).click();
      await page.goto(`${itemd.url}/#/tables/Orders/time`);
      await page.getByRole('button', { name: 'Turn on', exact: true }).click();
      await page.getByText('Point-in-time recovery is on.').waitFor();
      await page.getByRole('slider').waitFor();
      // Times of the slider are of whole seconds: the change is made when the first second that can be restored is over.
      await sleep(2100);
      await itemd.client.send(new UpdateItemCommand({ TableName: 'Orders', Key, UpdateExpression: 'SET #s = :s', ExpressionAttributeNames: { '#s': 'state' }, ExpressionAttributeValues: { ':s': { S: 'changed' } } }));
      await page.getByRole('slider').fill('0');
      await page.getByRole('button', { name: 'Show what differs' }).click();
      await page.getByText('would be as before').waitFor();
      assert.equal(await page.getByRole('region', { name: 'Items that differ' }).locator('tbody tr').count(), 1);
      await page.getByText('cust_001 · ord_000001').waitFor();
      await page.getByLabel('Restore into a new table').fill('OrdersBefore');
      await page.getByRole('button', { name: 'Restore' }).click();
      await page.getByText('OrdersBefore is being restored.').waitFor();
      await page.getByRole('button', { name: 'Back up now' }).click();
      await page.getByText('A backup is being made.').waitFor();
      await page.getByRole('cell', { name: /^console-/ }).waitFor();
      for (let tries = 0; ; ++tries) {
        const { Item } = await itemd.client.send(new GetItemCommand({ TableName: 'OrdersBefore', Key })).catch(() => ({}));
        if (Item) {
          assert.deepEqual(Item.state, order(1).state);
          break;
        }
        assert.ok(tries < 600, 'it is not restored');
        await sleep(100);
      }
      await page.goto(`${itemd.url}/#/builds`);
      await page.getByRole('button', { name: 'Check now' }).click();
      await page.getByText('Everything agrees.').waitFor();
    } finally {
      await browser.close();
      assert.equal(await itemd.stop(), 0);
    }
  });
});

describe('without access keys', () => {
  it('the console reads and does not write', async () => {
    const itemd = await Itemd.start({ keys: null });
    await makeOrders(itemd.client, 5);
    const browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(itemd.url);
    await page.getByText('No access keys: the console only reads.').waitFor();
    await page.goto(`${itemd.url}/#/tables/Orders/items`);
    await page.getByRole('button', { name: 'cust_' }).first().click();
    await page.getByText('Read-only: itemd has no access keys.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    await browser.close();
    assert.equal(await itemd.stop(), 0);
  });
});
