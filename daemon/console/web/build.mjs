// Bundles the console's page and writes it as C++: node build.mjs WORK OUT [--required].
//
// WORK is a folder of the build: npm installs the packages of package-lock.json there, once for each version of that
// file. OUT is the C++ file that defines ConsoleFiles() and WhyNoConsole(); it is written only when it changes. When
// the packages cannot be installed, OUT says why there is no console and the build goes on, except with --required.
// The same sources and packages make the same bytes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const source = fileURLToPath(new URL('.', import.meta.url));
const work = resolve(process.argv[2]);
const out = resolve(process.argv[3]);
const required = process.argv.includes('--required');

// What a browser of 2022 can run.
const target = ['chrome105', 'firefox110', 'safari16'];

class NoPackages extends Error {}

function installPackages() {
  const lock = readFileSync(join(source, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  const stamp = join(work, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  mkdirSync(work, { recursive: true });
  rmSync(stamp, { force: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(source, name), join(work, name));
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline',
    '--fetch-retries=1', '--fetch-timeout=30000', '--loglevel=error'], { cwd: work, encoding: 'utf8' });
  if (npm.error) throw new NoPackages('npm was not found');
  if (npm.status !== 0) {
    const lines = `${npm.stderr}`.trim().split('\n');
    throw new NoPackages(`npm could not install its packages (${lines[lines.length > 1 ? 1 : 0]?.replace(/^npm (error|ERR!) /, '') ?? 'no reason'})`);
  }
  writeFileSync(stamp, wanted);
}

async function bundle() {
  const esbuild = createRequire(join(work, 'package.json'))('esbuild');
  const result = await esbuild.build({
    entryPoints: { console: join(source, 'src/main.jsx'), style: join(source, 'src/style.css') },
    nodePaths: [join(work, 'node_modules')],
    bundle: true, minify: true, write: false, format: 'esm', target, charset: 'utf8', legalComments: 'none',
    jsx: 'transform', jsxFactory: 'h', jsxFragment: 'Fragment', outdir: 'out', logLevel: 'error',
  });
  const files = [];
  const add = (path, type, text) => files.push({ path, type, text });
  const names = {};
  for (const file of result.outputFiles) {
    const hash = createHash('sha256').update(file.contents).digest('hex').slice(0, 10);
    const script = file.path.endsWith('.js');
    names[script ? 'SCRIPT' : 'STYLE'] = `${script ? 'console' : 'style'}-${hash}.${script ? 'js' : 'css'}`;
    add(`/${names[script ? 'SCRIPT' : 'STYLE']}`, `text/${script ? 'javascript' : 'css'}; charset=utf-8`, file.contents);
  }
  const icon = readFileSync(join(source, 'src/icon.svg'));
  names.ICON = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 10)}.svg`;
  add(`/${names.ICON}`, 'image/svg+xml', icon);
  const page = readFileSync(join(source, 'src/index.html'), 'utf8').replace(/\{(SCRIPT|STYLE|ICON)\}/g, (_, name) => `/${names[name]}`);
  add('/', 'text/html; charset=utf-8', Buffer.from(page));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const head = `// Made by daemon/console/web/build.mjs.
#include "daemon/console/console_files.h"

namespace itemdb::daemon {
`;

function withFiles(files) {
  let text = `${head}namespace {\n\n`;
  files.forEach((file, i) => {
    const bytes = gzipSync(file.text, { level: 9 });
    // The system that compressed is no part of the content.
    bytes[9] = 255;
    file.bytes = bytes.length;
    text += `constexpr char kFile${i}[] = {\n`;
    for (let at = 0; at < bytes.length; at += 40) {
      text += `${[...bytes.subarray(at, at + 40)].map((byte) => (byte > 127 ? byte - 256 : byte)).join(',')},\n`;
    }
    text += '};\n';
  });
  text += 'constexpr ConsoleFile kFiles[] = {\n';
  files.forEach((file, i) => { text += `    {"${file.path}", "${file.type}", {kFile${i}, sizeof(kFile${i})}},\n`; });
  return `${text}};\n\n}  // namespace\n
std::span<const ConsoleFile> ConsoleFiles() { return kFiles; }
std::string_view WhyNoConsole() { return ""; }

}  // namespace itemdb::daemon\n`;
}

const withoutFiles = (why) => `${head}
std::span<const ConsoleFile> ConsoleFiles() { return {}; }
std::string_view WhyNoConsole() { return ${JSON.stringify(why)}; }

}  // namespace itemdb::daemon\n`;

let text;
try {
  installPackages();
  text = withFiles(await bundle());
} catch (error) {
  if (!(error instanceof NoPackages) || required) {
    console.error(`the console cannot be built: ${error.message}`);
    process.exit(1);
  }
  console.log(`itemd is built without the console: ${error.message}`);
  text = withoutFiles(error.message);
}
if (!existsSync(out) || readFileSync(out, 'utf8') !== text) writeFileSync(out, text);
