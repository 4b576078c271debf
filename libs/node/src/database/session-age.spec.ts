import { type Connection, SessionAge } from './database-connection.js';
import { postgresDialect } from './postgres-dialect.js';

const MAX_MS = 27_000;
const NO_LIMIT = Number.POSITIVE_INFINITY;

const connection = (): Connection => ({}) as Connection;

describe('The age of a session', () => {
  it('is the larger of what the server tells and what we count', () => {
    const age = new SessionAge();
    const one = connection();
    expect(age.of(one, 10, 12)).toBe(12);
    expect(age.of(one, 9_000, 4_000)).toBe(9_000);
  });

  it('is that of the server when the difference grows: nothing is pooled any more', () => {
    const age = new SessionAge();
    const one = connection();
    age.of(one, 10, 12);
    expect(age.of(one, 20, 6_020)).toBe(6_020);
    expect(age.isPooled).toBe(false);
  });

  it('is none where two connections in a row are younger than their sessions', () => {
    const age = new SessionAge();
    const [first, second] = [connection(), connection()];
    expect(age.of(first, 10, 5_020)).toBe(NO_LIMIT);
    expect(age.of(first, 20, 5_030)).toBe(NO_LIMIT);
    expect(age.isPooled).toBe(false);
    expect(age.of(second, 10, 5_060)).toBe(0);
    expect(age.isPooled).toBe(true);
    expect(age.andIsYoung(postgresDialect, MAX_MS, MAX_MS + 1)).toBe('');
  });

  it('counts again as soon as a connection is as old as its session', () => {
    const age = new SessionAge();
    age.of(connection(), 10, 60_000);
    age.of(connection(), 10, 60_000);
    expect(age.of(connection(), 10, 20)).toBe(20);
    expect(age.isPooled).toBe(false);
    expect(age.of(connection(), 10, 60_000)).toBe(NO_LIMIT);
  });

  it('does not exempt a connection of a process that was suspended before the first answer', () => {
    const age = new SessionAge();
    expect(age.of(connection(), 10, 6_010)).toBe(NO_LIMIT);
    expect(age.of(connection(), 10, 20)).toBe(20);
    expect(age.isPooled).toBe(false);
  });

  it('is beyond every limit when it is below 0: the clock of the database was put back', () => {
    const age = new SessionAge();
    expect(age.of(connection(), 10, -1)).toBe(NO_LIMIT);
  });

  it('is a condition of what is written, by the clock of the server and by ours', () => {
    const age = new SessionAge();
    expect(age.andIsYoung(postgresDialect, MAX_MS, 0)).toBe(` AND ${postgresDialect.sessionAgeMs} BETWEEN 0 AND 27000`);
    expect(age.andIsYoung({ ...postgresDialect, sessionAgeMs: '0' }, MAX_MS, MAX_MS)).toBe('');
    expect(age.andIsYoung(postgresDialect, MAX_MS, MAX_MS + 1)).toBe(' AND 1 = 0');
  });
});
