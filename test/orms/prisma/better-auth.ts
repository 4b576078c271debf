/** Sign-up, session and sign-in of better-auth, on tables whose keys Prisma has as `BigInt` and as `String`. */
import { openIdService } from '@raindrop/node';
import { betterAuth } from 'better-auth';
import { prismaAdapter } from 'better-auth/adapters/prisma';
import * as bigints from './generated/postgresql-BigInt/auth/client.js';
import * as texts from './generated/postgresql-String/auth/client.js';
import { adapter, dbConfig } from './shop.js';

const ADA = { email: 'ada@shop.test', password: 'correct horse' };
const ids = await openIdService({ dbConfig });
const found: Record<string, unknown> = {};

async function signs(client: bigints.PrismaClient, key: 'bigint' | 'text'): Promise<unknown> {
  for (const statement of tables(key)) await client.$executeRawUnsafe(statement);
  const auth = betterAuth({
    secret: 'of-a-test-4f8c1b7e92d05a36-31d7',
    baseURL: 'http://127.0.0.1:3000',
    database: prismaAdapter(client, { provider: 'postgresql' }),
    emailAndPassword: { enabled: true },
    advanced: { database: { generateId: () => ids.nextString() } },
  });
  const { response, headers } = await auth.api.signUpEmail({ body: { ...ADA, name: 'Ada' }, returnHeaders: true });
  const cookie = headers.getSetCookie().map((each) => each.split(';')[0]);
  const session = await auth.api.getSession({ headers: new Headers({ cookie: cookie.join('; ') }) });
  const again = await auth.api.signInEmail({ body: ADA });
  const rows = await client.account.findMany();
  await client.$disconnect();
  const { id } = response.user;
  return {
    key: typeof id,
    digits: id.length > 16,
    session: session!.session.userId === id,
    again: again.user.id === id,
    account: rows.map(({ userId }) => String(userId) === id),
  };
}

/** As `prisma migrate` writes them. */
function tables(key: 'bigint' | 'text'): string[] {
  const times = '"createdAt" timestamp(3) not null, "updatedAt" timestamp(3) not null';
  return [
    'drop table if exists "user", session, account, verification cascade',
    `create table "user" (id ${key} primary key, name text not null, email text not null unique,
      "emailVerified" boolean not null, image text, ${times})`,
    `create table session (id ${key} primary key, "expiresAt" timestamp(3) not null, token text not null unique,
      "ipAddress" text, "userAgent" text, "userId" ${key} not null references "user", ${times})`,
    `create table account (id ${key} primary key, "accountId" text not null, "providerId" text not null, issuer text,
      "userId" ${key} not null references "user", "accessToken" text, "refreshToken" text, "idToken" text,
      "accessTokenExpiresAt" timestamp(3), "refreshTokenExpiresAt" timestamp(3), scope text, password text, ${times})`,
    `create table verification (id text primary key, identifier text not null, value text not null,
      "expiresAt" timestamp(3) not null, ${times})`,
  ];
}

found['BigInt'] = await signs(new bigints.PrismaClient({ adapter: adapter() }), 'bigint');
// The types of both clients are taken to be those with keys as `BigInt`.
found['String'] = await signs(new texts.PrismaClient({ adapter: adapter() }) as never, 'text');
await ids.close();
console.log(JSON.stringify(found));
