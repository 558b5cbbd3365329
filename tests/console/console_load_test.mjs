// The console with much to show: 100,000 items and 10,000 tables. No task of the page may take longer than 50 ms.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { makeOrders } from './data.mjs';
import { Itemd, openBrowser, signIn } from './itemd.mjs';

const items = 100_000;
const tables = 10_000;
const longMs = 50;

// Runs `use` on a new page and returns the tasks of its main thread that took longer than 50 ms. On a machine that other
// processes keep busy a task lasts longer than it works, so its time on the processor counts.
async function longTasks(browser, itemd, use) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.longTasks.push(Math.round(one.duration)); }).observe({ type: 'longtask', buffered: true });
  });
  await signIn(page, itemd.url);
  await page.evaluate(() => { window.longTasks = []; });
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await use(page);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const lasted = await page.evaluate(() => window.longTasks);
  await page.close();
  const mainThreads = new Set(traceEvents.filter((one) => one.name === 'thread_name' && one.args.name === 'CrRendererMain').map((one) => `${one.pid} ${one.tid}`));
  const tasks = traceEvents.filter((one) => one.ph === 'X' && one.tdur !== undefined && mainThreads.has(`${one.pid} ${one.tid}`));
  assert.ok(tasks.length > 100, `the trace has ${tasks.length} tasks`);
  const found = tasks.filter((one) => one.tdur > longMs * 1000).map((one) => `${one.name}: ${Math.round(one.tdur / 1000)} ms`);
  if (lasted.length > 0) console.log(`# tasks lasted ${lasted.join(', ')} ms; of these ${found.length} worked so long`);
  return found;
}

describe('much to show', () => {
  let itemd;
  let browser;
  before(async () => {
    itemd = await Itemd.start();
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    assert.equal(await itemd?.stop(), 0);
  });

  const never = async (use) => {
    assert.deepEqual(await longTasks(browser, itemd, use), []);
  };

  it(`a table of ${items} items is read and scrolled without a long task`, async () => {
    await makeOrders(itemd.client, items, 'ManyOrders');
    await never(async (page) => {
      await page.evaluate(() => { location.hash = '#/tables/ManyOrders/items'; });
      await page.getByText('A scan reads everything, 100,000 items').waitFor();
      await page.getByLabel('Items a page').selectOption('500');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByText('500 items, more may follow').waitFor();
      for (let i = 1000; i <= 5000; i += 500) {
        await page.getByRole('button', { name: 'Read on' }).click();
        await page.getByText(`${i.toLocaleString('en-US')} items, more may follow`).waitFor();
      }
      const list = page.getByRole('region', { name: 'Items' });
      for (let i = 1; i <= 40; ++i) {
        await list.evaluate((box, to) => { box.scrollTop = to; }, i * 4000);
        await page.waitForTimeout(20);
      }
      const rows = await list.locator('tbody tr').count();
      assert.ok(rows < 200, `${rows} rows are in the document`);
    });
  });

  it(`${tables} tables are listed, found and scrolled without a long task`, async () => {
    const names = Array.from({ length: tables - 1 }, (_, i) => `Tenant_${String(i).padStart(5, '0')}_Events`);
    const make = async () => {
      for (let TableName = names.pop(); TableName; TableName = names.pop()) {
        await itemd.client.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }] }));
      }
    };
    await Promise.all(Array.from({ length: 16 }, make));
    await never(async (page) => {
      await page.evaluate(() => { location.hash = '#/tables'; });
      await page.getByRole('link', { name: 'Tenant_00001_Events', exact: true }).waitFor();
      await page.getByRole('searchbox').pressSequentially('09998');
      await page.getByRole('link', { name: 'Tenant_09998_Events', exact: true }).waitFor();
      await page.getByRole('searchbox').fill('');
      await page.getByRole('button', { name: 'Items' }).click();
      const list = page.getByRole('region', { name: 'Tables' });
      for (let i = 1; i <= 40; ++i) {
        await list.evaluate((box, to) => { box.scrollTop = to; }, i * 8000);
        await page.waitForTimeout(20);
      }
      assert.ok(await list.locator('tbody tr').count() < 200);
    });
  });
});
