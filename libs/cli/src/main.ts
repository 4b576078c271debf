#!/usr/bin/env node
import { runCli } from './run-cli.js';

/** For what a file of options has left open, and for connections that a signal caught on their way. */
const LAST_MS = 500;

void runCli(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
  // Everything has been written and given back; this ends only what would wait for something else.
  setTimeout(() => process.exit(), LAST_MS).unref();
});
