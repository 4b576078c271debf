import { DataSource } from 'typeorm';
import { attachSnowflakes } from '../../../libs/typeorm/src/generated-snowflake/attach-snowflakes.js';
import { pathsOf, rows, type PathSetting } from './entity-path.js';
import { idSource, wideLayout } from './property-form.js';
import { lonelyEntities, sharedKeyEntities } from './refused-entities.js';

/** A second DataSource with the same entities, to which no service is attached. */
async function unattached<T>(
  { dataSource }: PathSetting<unknown>,
  use: (other: DataSource) => T | Promise<T>,
): Promise<T> {
  const other = await new DataSource({ ...dataSource.options, synchronize: false }).initialize();
  try {
    return await use(other);
  } finally {
    await other.destroy();
  }
}

/** What cannot work with some property, or at all. */
export const refusedPaths = [
  ...pathsOf(lonelyEntities, {
    '`save` with `listeners: false`': async ({ manager, entities: { Note } }) => {
      await manager.save(Note, { title: 'silent' }, { listeners: false });
      return [];
    },
    '`callListeners(false)`': async ({ dataSource, entities: { Note } }) => {
      const values = { title: 'silent' };
      await dataSource.createQueryBuilder().insert().into(Note).values(values).callListeners(false).execute();
      return [];
    },
    "a list of columns without the ID: `into(Note, ['title'])`": async ({ dataSource, entities: { Note } }) => {
      await dataSource.createQueryBuilder().insert().into(Note, ['title']).values({ title: 'listed' }).execute();
      return [];
    },
    '`valuesFromSelect` without the ID': async ({ dataSource, entities: { Note } }) => {
      const select = dataSource.createQueryBuilder().select("'selected'").from(Note, 'note');
      await dataSource.createQueryBuilder().insert().into(Note, ['title']).valuesFromSelect(select).execute();
      return [];
    },
    'SQL by hand without the ID': async ({ dataSource, entities: { Note } }) => {
      const [table, title] = [dataSource.getMetadata(Note).tablePath, 'title'].map((name) =>
        dataSource.driver.escape(name),
      );
      await dataSource.query(`INSERT INTO ${table} (${title}) VALUES ('by hand')`);
      return [];
    },
    'a service that is not attached': (setting) =>
      unattached(setting, async ({ manager }) => {
        await manager.save(setting.entities.Note, { title: 'unattached' });
        return [];
      }),
    'a number that has lost digits, given as the ID': async ({ manager, entities: { Note } }) => {
      await manager.insert(Note, { id: 2 ** 60 });
      return [];
    },
    'a number that has lost digits, looked for': async ({ manager, entities: { Note } }) => {
      await manager.findOneBy(Note, { id: 2 ** 60 });
      return [];
    },
    'a text that is no ID, given as the ID': async ({ manager, entities: { Note } }) => {
      await manager.insert(Note, { id: '12abc' });
      return [];
    },
    'a text that is no ID, looked for': async ({ manager, entities: { Note } }) => {
      await manager.findOneBy(Note, { id: '12abc' });
      return [];
    },
    'a text that is no ID, deleted by': async ({ manager, entities: { Note } }) => {
      await manager.delete(Note, { id: '12abc' });
      return [];
    },
    'a layout whose IDs are past 2^53 - 1': (setting) =>
      unattached(setting, async (other) => {
        attachSnowflakes(other, idSource(wideLayout));
        return [rows(setting.entities.Note, [await other.manager.save(setting.entities.Note, {})])];
      }),
    MongoDB: (setting) =>
      unattached(setting, (other) => {
        const mongo = Object.create(other, { options: { value: { type: 'mongodb' } } }) as DataSource;
        attachSnowflakes(mongo, idSource(wideLayout));
        return [];
      }),
  }),
  ...pathsOf(sharedKeyEntities, {
    'a key that is a foreign key as well': async ({ manager, entities: { Owner, Shared } }) => {
      await manager.save(Shared, { owner: await manager.save(new Owner()) });
      return [];
    },
  }),
];
