import { IdService, RaindropModule, type IdServiceStatus } from '@raindrop/nestjs';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { DataSource, Entity } from 'typeorm';
import { kindsOfTier } from '../../support/servers/test-databases.js';
import { LogCapture } from './log-capture.js';
import { startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

const DEFAULT = '1000@1767225600:t33.w10.b1.s18.e1=0';
const NUMBER = '1000@1767225600:t30.w8.b1.s13.e1=0';

@Entity()
class Numbered {
  @GeneratedSnowflake()
  id!: number;
}

@Entity()
class Order {
  @GeneratedSnowflake()
  id!: string;
}

const fingerprintOf = (status: IdServiceStatus): string => ('fingerprint' in status ? status.fingerprint : '');

describe.each(kindsOfTier)('RaindropModule without a layout in its options, on %s,', (kind) => {
  const database = useDatabase(kind, 'test');
  const orm = (entity: typeof Order | typeof Numbered) =>
    typeorm({ ...database.options, entities: [entity], synchronize: true });

  it('needs nothing but a DataSource: forRoot() fills entities, and says what its IDs come to', async () => {
    const log = new LogCapture();
    const app = await startApp([orm(Order), RaindropModule.forRoot()], [], log);
    const { id } = await app.get(DataSource).getRepository(Order).save({});
    expect(app.get(IdService).parse(id).workerId).toBe(app.get(IdService).workerId);
    expect(log.ofRaindrop).toContain(
      `log IDs until 2298-03-16; 262,144 a second and process; 1,023 worker ids (layout ${DEFAULT}) Raindrop`,
    );
    await app.close();
  });

  it('takes what the table remembers, from forRoot() as from forRootAsync()', async () => {
    const first = await startApp([orm(Numbered), RaindropModule.forRoot({ layout: 'number', lint: 'error' })]);
    const { id } = await first.get(DataSource).getRepository(Numbered).save({});
    expect(Number.isSafeInteger(id)).toBe(true);
    await first.close();
    for (const module of [RaindropModule.forRoot(), RaindropModule.forRootAsync({ useFactory: () => ({}) })]) {
      const app = await startApp([orm(Numbered), module]);
      expect(fingerprintOf(app.get(IdService).status())).toBe(NUMBER);
      await app.close();
    }
  });

  it('is told by its entities that its IDs are no numbers, and which layout is for those', async () => {
    const starting = startApp([orm(Numbered), RaindropModule.forRoot()]);
    await expect(starting).rejects.toMatchObject({ errorCode: 'ENTITY_LINT' });
    await expect(starting).rejects.toThrow(/numbered\.id .*passed 2\^53 - 1 at 2026.*with layout: 'number'/);
    // No layout was remembered by that: the way out that it names is open.
    const app = await startApp([orm(Numbered), RaindropModule.forRoot({ layout: 'number' })]);
    expect(fingerprintOf(app.get(IdService).status())).toBe(NUMBER);
    await app.close();
  });
});
