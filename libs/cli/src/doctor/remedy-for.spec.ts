import { DatabaseCallError, DriverNotInstalledError, StoreUnavailableError } from '@raindrop/node';
import { remedyFor } from './examine.js';

it.each([
  [new DatabaseCallError('connect', 'ECONNREFUSED'), 'start the database'],
  [new DatabaseCallError('getaddrinfo', 'ENOTFOUND'), 'correct the host in --url'],
  [new DatabaseCallError('connect', 'ETIMEDOUT'), 'firewall'],
  [new DatabaseCallError('Connection terminated due to connection timeout', ''), 'firewall'],
  [new DatabaseCallError('no such table: soc_raindrop_worker', 'SQLITE_ERROR'), 'run raindrop init'],
  [new DatabaseCallError('file is not a database', 'SQLITE_NOTADB'), 'no SQLite database'],
  [new DriverNotInstalledError('postgres'), 'npm install pg'],
  [new StoreUnavailableError('renew', new Error('odd')), 'see docs/errors.md, STORE_UNAVAILABLE'],
])('%s is cured', (error, cure) => {
  expect(remedyFor(error)).toContain(cure);
});
