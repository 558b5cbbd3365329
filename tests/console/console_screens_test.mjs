// Every screen of the console in Chromium: what it shows, rules of accessibility (axe), light and dark, phone width, keys
// only, and that it asks nobody but itemd.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { makeEverything } from './data.mjs';
import { Itemd, openBrowser, signIn } from './itemd.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const screens = [
  { hash: '#/tables', shows: ['Orders', 'Customers', '300'] },
  { hash: '#/tables/Orders', shows: ['by_state', 'on, new and old images', 'on, attribute expires', 'customer_id (S)'] },
  { hash: '#/tables/Orders/items', shows: ['A scan reads everything, 300 items', 'ord_000', 'shipped'] },
  { hash: '#/tables/Orders/changes', shows: ['added', 'cust_049 · ord_000299'] },
  { hash: '#/tables/Orders/patterns', shows: ['state = ?', 'by_state'] },
  { hash: '#/tables/Orders/time', shows: ['Point-in-time recovery', 'No backup yet'] },
  { hash: '#/metrics', shows: ['Requests', 'Latency', 'Memory'] },
  { hash: '#/changes', shows: ['Warehouses', 'table created'] },
  { hash: '#/builds', shows: ['No index is being created', 'Background check'] },
  { hash: '#/backups', shows: ['Of the whole database', 'of the archive', 'No table has a backup'] },
  { hash: '#/patterns', shows: ['customer_id = ?', 'all items', 'Of a model folder'] },
  { hash: '#/slow', shows: ['http/'] },
  { hash: '#/audit', shows: ['console/sign-in', 'CreateTable'] },
];

async function violations(page) {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => axe.run());
  return found.map((one) => `${one.id}: ${one.help}\n  ${one.nodes.map((node) => node.html).join('\n  ')}`);
}

describe('the screens', () => {
  let itemd;
  let browser;
  before(async () => {
    itemd = await Itemd.start({ more: ['--slow-request', '1us', '--background-check-rate', '100'], audit: true });
    await makeEverything(itemd.client);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    assert.equal(await itemd?.stop(), 0);
  });

  for (const colorScheme of ['light', 'dark']) {
    it(`show what is there, in ${colorScheme} colours, for everybody`, async () => {
      const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 } });
      const page = await context.newPage();
      const problems = [];
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('401')) problems.push(message.text()); });
      page.on('request', (request) => { if (!request.url().startsWith(`${itemd.url}/`)) problems.push(request.url()); });
      await page.goto(itemd.url);
      await page.getByLabel('Access key id').waitFor();
      assert.deepEqual(await violations(page), [], 'signing in');
      await signIn(page, itemd.url);
      for (const { hash, shows } of screens) {
        await page.goto(`${itemd.url}/${hash}`);
        for (const text of shows) await page.locator('main').getByText(text).first().waitFor();
        assert.deepEqual(await violations(page), [], hash);
        const cut = await page.evaluate(() => [...document.querySelectorAll('td:has(.tag)')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
        assert.deepEqual(cut, [], hash);
      }
      await page.goto(`${itemd.url}/#/tables/Orders/items`);
      await page.getByRole('button', { name: 'cust_' }).first().click();
      await page.getByRole('dialog').getByText('Copy as…').click();
      await page.getByRole('dialog').getByText(/itemctl .*item get/).waitFor();
      assert.deepEqual(await violations(page), [], 'an item');
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  it('fit a phone', async () => {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    await signIn(page, itemd.url);
    for (const { hash, shows } of screens) {
      await page.goto(`${itemd.url}/${hash}`);
      await page.locator('main').getByText(shows[0]).first().waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${hash} is ${width} wide`);
      for (const current of await page.locator('nav [aria-current]').all()) {
        const { x, width: wide } = await current.boundingBox();
        assert.ok(x >= 0 && x + wide <= 360, `${hash}: ${await current.textContent()} is from ${x} to ${x + wide}`);
      }
    }
    await context.close();
  });

  it('are reached and used with keys only', async () => {
    const page = await browser.newPage();
    const focused = () => page.evaluate(() => document.activeElement.value || document.activeElement.textContent || document.activeElement.getAttribute('aria-label'));
    const tabTo = async (wanted, most = 80) => {
      for (let i = 0; i < most; ++i) {
        if ((await focused())?.trim().startsWith(wanted)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`${wanted} is not reached, but ${await focused()}`);
    };
    await page.goto(itemd.url);
    await page.getByLabel('Access key id').waitFor();
    await page.keyboard.type('ADMIN');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a secret of all these keys');
    await page.keyboard.press('Enter');
    await page.getByText('Sign out').waitFor();
    await tabTo('Editing');
    await page.keyboard.press('Space');
    await page.locator('[role=switch][aria-checked=true]').waitFor();
    await page.locator('main').getByText('Orders').first().waitFor();
    await tabTo('Orders');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    await tabTo('Items');
    await page.keyboard.press('Enter');
    await page.getByText('A scan reads everything').waitFor();
    await tabTo('cust_');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('{');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('"note":{"S":"typed"},');
    await tabTo('Save');
    await page.keyboard.press('Enter');
    await page.getByText('The item was saved.').waitFor();
    await tabTo('cust_');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.match(await focused(), /^cust_/, 'the focus is where it was');
    await page.close();
  });

  it('show a change at once', async () => {
    const page = await browser.newPage();
    await signIn(page, itemd.url);
    await page.goto(`${itemd.url}/#/tables/Customers/changes`);
    await page.getByText('customers-11').first().waitFor();
    await itemd.client.send(new PutItemCommand({ TableName: 'Customers', Item: { id: { S: 'just-now' } } }));
    await page.getByText('just-now').first().waitFor();
    await page.close();
  });

  it('open an access pattern to be filled in', async () => {
    const page = await browser.newPage();
    await signIn(page, itemd.url);
    await page.goto(`${itemd.url}/#/patterns`);
    await page.getByRole('link', { name: 'Query of by_state' }).first().click();
    await page.getByLabel('Value of state').fill('open');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Query of the index by_state').waitFor();
    await page.close();
  });

  it('say which index a query uses, and why a read is slow', async () => {
    const page = await browser.newPage();
    await signIn(page, itemd.url);
    await page.goto(`${itemd.url}/#/tables/Orders/items`);
    await page.getByText('A scan reads everything').waitFor();
    await page.getByRole('button', { name: 'Add a filter' }).click();
    await page.getByLabel('Attribute of filter 1').fill('state');
    await page.getByLabel('Value of filter 1').fill('paid');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('The index by_state has state as partition key').waitFor();
    await page.getByRole('button', { name: 'Remove filter 1' }).click();
    await page.getByLabel('Read from').selectOption('by_state');
    await page.getByLabel('Value of state').fill('paid');
    await page.getByLabel('Operator for placed').selectOption('begins');
    await page.getByLabel('Value of placed').fill('2026-01');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('of the index by_state').waitFor();
    const plan = await page.locator('.note').first().textContent();
    assert.match(plan, /^Query of the index by_state, range state = "paid" AND .*Examined 9 .*returned 9/);
    await page.getByRole('button', { name: 'Copy as…' }).click();
    await page.getByText(/itemctl .*query 'Orders'/).waitFor();
    await page.getByRole('button', { name: 'Python' }).click();
    await page.getByText('IndexName="by_state"').waitFor();
    await page.close();
  });
});
