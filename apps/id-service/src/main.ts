import './first-ticks.js';
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { ConsoleLogger, Logger } from '@nestjs/common';
import { ConfigurationError, IdService, RaindropError } from '@raindrop/nestjs';
import { createService } from './create-service.js';
import { nameDatabase } from './database/open-database.js';
import { readServiceConfig, type ServiceConfig } from './service-config.js';
import { openDoorWarning, startLine } from './service-log.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Options of the module that a variable of the service sets. */
const VARIABLES: Readonly<Record<string, string>> = {
  serviceMinWorkId: 'RAINDROP_MIN_WORKER_ID',
  serviceMaxWorkId: 'RAINDROP_MAX_WORKER_ID',
  layout: 'LAYOUT',
};

/** How long a start that is not wanted any more may go on. */
const LONGEST_END_MS = 4_000;

/** Set here because what is wrong with the environment is told in this format too. */
const isJson = process.env['LOG_FORMAT']?.trim().toLowerCase() === 'json';

async function start(config: ServiceConfig): Promise<void> {
  // The kernel drops a signal for process 1 of a container that has no handler for it. One that comes during the start
  // is kept until the start is over, or ends the process after LONGEST_END_MS, as with a database that does not answer.
  let giveUp: NodeJS.Timeout | undefined;
  const keep = (): void => void (giveUp ??= setTimeout(() => process.exit(0), LONGEST_END_MS).unref());
  for (const signal of SIGNALS) process.on(signal, keep);
  const app = await createService(config);
  clearTimeout(giveUp);
  // Ctrl-C: the server closes, the worker is given back, the process ends with 0 and not with the signal.
  app.enableShutdownHooks([...SIGNALS], { useProcessExit: true });
  for (const signal of SIGNALS) process.off(signal, keep);
  try {
    if (giveUp !== undefined) return await app.close();
    await app.listen(config.port, config.host);
  } catch (error) {
    await app.close();
    throw error;
  }
  const warning = openDoorWarning(config);
  if (warning !== undefined) new Logger('IdService').warn(warning);
  say(startLine(app.get(IdService), config, app.getHttpServer().address() as AddressInfo));
}

/** The one line of a start. */
function say(line: string): void {
  if (isJson) new ConsoleLogger('IdService', { json: true }).log(line);
  else console.log(line);
}

/** The last line of a process. */
function sayFatal(reason: string): void {
  if (isJson) new ConsoleLogger('IdService', { json: true }).fatal(reason);
  else console.error(reason);
}

async function main(): Promise<void> {
  let config: ServiceConfig | undefined;
  if (isJson) {
    process.on('uncaughtException', (error: unknown) => {
      sayFatal(error instanceof Error ? (error.stack ?? error.message) : String(error));
      process.exit(1);
    });
  }
  try {
    config = readServiceConfig(process.env);
    await start(config);
  } catch (error) {
    sayFatal(explain(error, config));
    // Nest does not hand out an application that failed half-way: its database pool cannot be closed, which would keep
    // the process alive.
    process.exit(1);
  }
}

function explain(error: unknown, config: ServiceConfig | undefined): string {
  if (error instanceof ConfigurationError) return inVariables(error).message;
  if (error instanceof RaindropError) return error.message;
  const { message, code, syscall, hostname } = error as NodeJS.ErrnoException & { readonly hostname?: string };
  const reason = message || code || String(error);
  if (code === 'EADDRNOTAVAIL' || (syscall === 'getaddrinfo' && hostname === config?.host)) {
    return `The service cannot start: ${reason}: set HOST to an address of this machine`;
  }
  if (syscall === 'listen') return `The service cannot start: ${reason}: set PORT to a free port`;
  const place = config === undefined ? '' : ` (database: ${nameDatabase(config.database)})`;
  return `The service cannot start: ${reason}${place}`;
}

/** The module checks the worker ids against the layout that the table remembers: it knows them as its own options. */
function inVariables({ problems }: ConfigurationError): ConfigurationError {
  return new ConfigurationError(problems.map((each) => ({ ...each, option: VARIABLES[each.option] ?? each.option })));
}

void main();
