import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { isDatabaseAway } from './database-errors.js';

const coded = (code: string): Error => Object.assign(new Error('x'), { code });

describe('isDatabaseAway', () => {
  it.each([
    coded('ECONNREFUSED'),
    coded('PROTOCOL_CONNECTION_LOST'),
    coded('57P01'),
    coded('08006'),
    new QueryFailedError('SELECT 1', [], coded('ECONNRESET')),
    coded('ER_TOO_MANY_USER_CONNECTIONS'),
    new QueryFailedError('SELECT 1', [], coded('ERR_STREAM_DESTROYED')),
    new QueryFailedError('SELECT 1', [], new Error('Connection terminated unexpectedly')),
    new QueryFailedError('COMMIT', [], new Error('Client was closed and is not queryable')),
    new QueryFailedError('COMMIT', [], new Error("Can't add new command when connection is in closed state")),
    new QueryRunnerAlreadyReleasedError(),
    new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]),
  ])('is true of a connection that cannot be had: %p', (error) => {
    expect(isDatabaseAway(error)).toBe(true);
  });

  it.each([
    undefined,
    null,
    'ECONNREFUSED',
    new Error('x'),
    coded('ER_DUP_ENTRY'),
    coded('23505'),
    coded('SQLITE_BUSY'),
    new QueryFailedError('SELECT 1', [], coded('ER_NO_SUCH_TABLE')),
  ])('is not of what a statement did wrong: %p', (error) => {
    expect(isDatabaseAway(error)).toBe(false);
  });
});
