// Starts the real itemd with the console, and the browser. ITEMDB_ITEMD is the program.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { chromium } from 'playwright-core';

const startSeconds = 120;

export const secret = 'a secret of all these keys';
export const keyFile = (keys) => keys.map(({ id, role, tables }) => `[[key]]\nid = "${id}"\nsecret = "${secret}"\n${role ? `role = "${role}"\n` : ''}${
  (tables ?? []).map((one) => `[[key.tables]]\nnames = ["${one.name}"]\nrole = "${one.role}"\n`).join('')}`).join('\n');
export const usualKeys = [{ id: 'ADMIN', role: 'admin' }, { id: 'WRITER', role: 'write' }, { id: 'READER', role: 'read' },
  { id: 'ORDERS', tables: [{ name: 'Order*', role: 'write' }] }];

export class Itemd {
  static async start({ keys = usualKeys, more = [], audit = false } = {}) {
    const itemd = new Itemd();
    itemd.directory = mkdtempSync(join(tmpdir(), 'itemdb-console-'));
    const addresses = join(itemd.directory, 'address.json');
    const args = ['--data-dir', join(itemd.directory, 'data'), '--listen', '127.0.0.1:0', '--http-listen', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0',
      '--address-file', addresses, '--tls-reload-interval', '1s', ...more];
    if (audit) args.push('--audit-log', join(itemd.directory, 'audit.jsonl'));
    if (keys) {
      itemd.writeKeys(keys);
      args.push('--access-keys', join(itemd.directory, 'keys.toml'));
    }
    itemd.process = spawn(process.env.ITEMDB_ITEMD, args, { stdio: ['ignore', 'ignore', process.env.ITEMDB_SHOW_LOG ? 'inherit' : 'ignore'] });
    for (let tries = 0; !existsSync(addresses); ++tries) {
      if (tries === startSeconds * 20 || itemd.process.exitCode !== null) throw new Error('itemd did not start');
      await sleep(50);
    }
    const { grpc, http, metrics } = JSON.parse(readFileSync(addresses, 'utf8'));
    itemd.url = `http://${metrics[0]}`;
    itemd.http = `http://${http[0]}`;
    itemd.grpc = grpc[0];
    // Where itemctl is too.
    itemd.programs = dirname(process.env.ITEMDB_ITEMD);
    itemd.client = new DynamoDBClient({ endpoint: itemd.http, region: 'local', maxAttempts: 3, credentials: { accessKeyId: 'ADMIN', secretAccessKey: secret } });
    return itemd;
  }

  // Replaces the key file at once; itemd reads it within a second or when it is told to.
  writeKeys(keys) {
    const path = join(this.directory, 'keys.toml');
    writeFileSync(`${path}.new`, keyFile(keys), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    this.process?.kill('SIGHUP');
  }

  async stop() {
    this.client.destroy();
    if (this.process.exitCode === null) {
      const ended = new Promise((resolve) => { this.process.once('exit', resolve); });
      this.process.kill('SIGTERM');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
    return this.process.exitCode;
  }
}

// Each step in its pages may take this long, because other tests run at the same time.
const stepMilliseconds = 120_000;

export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: process.env.ITEMDB_CHROMIUM ?? '/usr/bin/chromium', timeout: stepMilliseconds, args: ['--no-sandbox',
    '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (...options) => {  // newPage() calls it too.
    const context = await newContext(...options);
    context.setDefaultTimeout(stepMilliseconds);
    return context;
  };
  return browser;
}

export async function signIn(page, url, id = 'ADMIN') {
  await page.goto(url);
  await page.getByLabel('Access key id').fill(id);
  await page.getByLabel('Secret access key').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Sign out').waitFor();
}
