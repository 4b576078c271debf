import Sqlite from 'better-sqlite3';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createService } from '../../../apps/id-service/src/create-service.js';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { smallDisk, type SmallDisk } from '../../support/servers/small-disk.js';
import { until } from '../../support/until.js';

/** What writes to the database, now or when its reserve is used up. */
const ROUTES = {
  invoices: ['/v1/business-numbers', { series: 'invoice' }],
  creditNotes: ['/v1/business-numbers', { series: 'credit-note' }],
  ids: ['/v1/ids', undefined],
  numbers: ['/v1/numbers/order?count=10000', undefined],
} as const;

type Route = keyof typeof ROUTES;

interface Answer {
  readonly status: number;
  readonly body: { readonly errorCode?: string; readonly number?: string };
}

describe('An ID service whose SQLite has no room to write', () => {
  let disk: SmallDisk;
  let file: string;
  let app: NestFastifyApplication;
  let url: string;

  beforeEach(async () => {
    disk = smallDisk(4_096);
    file = join(disk.directory, 'service.sqlite');
    const config = readServiceConfig({ DATABASE_URL: `sqlite:${file}`, RAINDROP_LEASE_MS: '4000' });
    app = await createService(config);
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    await app.close();
    disk.remove();
  });

  async function ask(route: Route): Promise<Answer> {
    const [path, body] = ROUTES[route];
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method: 'POST', ...(body && json) });
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  }

  it('answers 503, loses nothing it has acknowledged, and goes on by itself when there is room again', async () => {
    const acknowledged = { invoices: [] as string[], creditNotes: [] as string[] };
    const refused: Answer[] = [];
    const write = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index++) {
        const answers = await Promise.all([ask('invoices'), ask('creditNotes')]);
        for (const [index, { status, body }] of answers.entries()) {
          if (status === 201) acknowledged[index === 0 ? 'invoices' : 'creditNotes'].push(body.number!);
        }
        refused.push(...answers.filter(({ status }) => status !== 201));
      }
    };
    await write(3);
    expect(refused).toEqual([]);

    disk.fill();
    await write(20);
    for (const route of ['ids', 'numbers'] as const) {
      // The lease is still good for a while, and so are the numbers in reserve.
      const answer = await until(`${route} to be refused`, async () => {
        const given = await ask(route);
        return given.status !== 201 && given;
      });
      refused.push(answer);
    }
    expect(refused.length).toBeGreaterThan(20);
    for (const answer of refused) expect(answer).toMatchObject({ status: 503, body: { retryable: true } });
    const codes = new Set(refused.map(({ body }) => body.errorCode));
    expect(codes).toEqual(new Set(['DATABASE_UNAVAILABLE', 'WAIT_TIMEOUT']));

    disk.free();
    for (const route of Object.keys(ROUTES) as Route[]) {
      await until(`${route} to go on`, async () => (await ask(route)).status === 201);
    }
    refused.length = 0;
    await write(3);
    expect(refused).toEqual([]);
    await app.close();

    const reopened = new Sqlite(file);
    const rows = reopened
      .prepare("SELECT series, value FROM raindrop_business_number WHERE period <> 'resets'")
      .all() as { series: string; value: number }[];
    reopened.close();
    for (const [route, numbers] of Object.entries(acknowledged)) {
      const series = route === 'invoices' ? 'invoice' : 'credit-note';
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(Number(numbers.at(-1)!.slice(-6))).toBe(rows.find((row) => row.series === series)!.value);
    }
  });
});
