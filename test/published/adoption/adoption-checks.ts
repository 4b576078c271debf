import assert from 'node:assert/strict';
import type { BoilerplateClient, Login, User } from './boilerplate-client.js';
import { readRows, sql, type Rows } from './boilerplate-rows.js';
import type { Boilerplate } from './boilerplate.js';

const ADMIN = 'admin@example.com';

/** No row was changed, and no foreign key was lost. */
export function sameRows(before: Rows, after: Rows): void {
  assert.deepEqual(after, before);
  assert.equal(after.foreignKeys.length, 4);
}

/** TypeORM would change nothing. */
export async function noDrift(app: Boilerplate): Promise<void> {
  const printed = await app.run('npm run typeorm -- --dataSource=src/database/data-source.ts schema:log');
  assert.match(printed, /Your schema is up to date/);
}

/** By its interface. @returns the keys of an old and of a new user */
export async function useOldAndNew(
  app: Boilerplate,
  client: BoilerplateClient,
  old: Login,
  floor: bigint,
): Promise<string> {
  // Tokens and sessions of before: they hold the old keys.
  assert.equal((await client.me(old)).id, old.user.id);
  const refreshed = await client.refresh(old);
  assert.equal((await client.me(refreshed)).id, old.user.id);
  assert.equal((await client.login(old.user.email)).user.id, old.user.id);

  const { user } = await client.register('new@example.com');
  assert(
    Number.isSafeInteger(user.id) && BigInt(user.id) >= floor,
    `the new user has the key ${JSON.stringify(user.id)}`,
  );
  assert.match(await app.raindrop(`decode --layout number ${user.id}`), /^\d+ {2}2\d{3}-.*Z {2}worker \d+$/m);

  const admin = await client.login(ADMIN);
  for (const { id, email } of [old.user, user]) {
    assert.equal((await client.users<User>('GET', `/${id}`, admin)).email, email);
    assert.equal((await client.users<User>('PATCH', `/${id}`, admin, { lastName: 'King' })).id, id);
  }
  const { data } = await client.users<{ data: User[] }>('GET', '?limit=50', admin);
  assert(data.every(({ id }) => Number.isSafeInteger(id)));
  assert(data.some(({ id }) => id === old.user.id) && data.some(({ id }) => id === user.id));
  await client.users('DELETE', `/${user.id}`, admin);
  await assert.rejects(client.login(user.email), /answers 422/);
  return `${old.user.id} and ${user.id}`;
}

/** All keys of before are there, and all others are Raindrop's. */
export function showNew(before: Rows, after: Rows, floor: bigint): string {
  const counts = (['users', 'sessions'] as const).map((table) => {
    for (const id of before[table].keys()) assert(after[table].has(id), `${table} has lost ${id}`);
    const added = [...after[table].keys()].filter((id) => !before[table].has(id));
    assert(added.length > 0 && added.every((id) => BigInt(id) >= floor), `${table} has got ${added.join(', ')}`);
    return `${before[table].size} old and ${added.length} new ${table}`;
  });
  assert.deepEqual(after.foreignKeys, before.foreignKeys);
  return counts.join(', ');
}

/** As its own CI begins: all migrations, one after the other, and seeds from a module of their own. */
export async function fillEmpty(app: Boilerplate, databaseUrl: URL, floor: bigint): Promise<void> {
  await sql(databaseUrl, 'CREATE DATABASE fresh TEMPLATE template0');
  app.useDatabase('fresh');
  await app.migrate();
  await app.seed();
  const { users } = await readRows(new URL('/fresh', databaseUrl));
  assert.equal(users.size, 2);
  assert([...users.keys()].every((id) => BigInt(id) >= floor));
}
