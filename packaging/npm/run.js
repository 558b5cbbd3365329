#!/usr/bin/env node
// Runs a program of the tarball: the one that has the name under which npm has installed this file. As `itemdb`
// it is itemd; without arguments, itemd dev. The program has this process's input, output, signals and exit code.
'use strict';
const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const path = require('node:path');

const name = path.basename(process.argv[1], '.js');
const program = name === 'itemctl' ? 'itemctl' : 'itemd';
const given = process.argv.slice(2);
const child = spawn(path.join(__dirname, 'itemdb', 'bin', program),
                    name === 'itemdb' && given.length === 0 ? ['dev'] : given, { stdio: 'inherit' });
// A signal from a terminal reaches the program too, as it is in the same process group; itemd takes the first one.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`${program} of the package itemdb does not start: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
