#!/usr/bin/env node
import { runCli } from './run-cli.js';

/**
 * So long a file of options, or a connection that a signal has interrupted, may keep the process alive at its end, ms.
 */
const LAST_MS = 500;

void runCli(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
  // All results are written and the worker id is given back: this ends only what still keeps the process alive.
  setTimeout(() => process.exit(), LAST_MS).unref();
});
