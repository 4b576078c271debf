import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { ConsoleLogger } from '@nestjs/common';
import { RaindropError } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { createDemo } from './create-demo.js';
import { nameDatabase } from './database/database-url.js';
import { readDemoConfig, type DemoConfig } from './demo-config.js';
import { startLine } from './start-line.js';

async function start(config: DemoConfig): Promise<void> {
  const app = await createDemo(config);
  // Ctrl-C: the server closes, the worker is given back, the process ends with 0 and not with the signal.
  app.enableShutdownHooks(['SIGINT', 'SIGTERM'], { useProcessExit: true });
  try {
    await app.startAllMicroservices();
    await app.listen(config.port, config.host);
  } catch (error) {
    await app.close();
    throw error;
  }
  say(startLine(app.get(IdService), config, app.getHttpServer().address() as AddressInfo), config);
}

/** The one line of a start. */
function say(line: string, { logFormat }: DemoConfig): void {
  if (logFormat === 'json') new ConsoleLogger('Demo', { json: true }).log(line);
  else console.log(line);
}

async function main(): Promise<void> {
  let config: DemoConfig | undefined;
  try {
    config = readDemoConfig(process.env);
    await start(config);
  } catch (error) {
    const reason = explain(error, config);
    if (config?.logFormat === 'json') new ConsoleLogger('Demo', { json: true }).fatal(reason);
    else console.error(reason);
    // Nest does not hand out an application that failed half-way: nobody can close its database pool, which would keep
    // the process alive.
    process.exit(1);
  }
}

function explain(error: unknown, config: DemoConfig | undefined): string {
  if (error instanceof RaindropError) return error.message;
  const { message, code } = error as { message?: string; code?: string };
  const reason = message || code || String(error);
  const place = config === undefined ? '' : ` (database: ${nameDatabase(config.database)})`;
  return `The demo cannot start: ${reason}${place}`;
}

void main();
