/* eslint-disable @typescript-eslint/explicit-module-boundary-types, @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return -- the types of the two versions differ */
import { defineEntity, Utils } from '@mikro-orm/core';
import { openIdService } from '@raindrop/node';
import { type KeyOptions, snowflakeKey, withSnowflakes } from '@raindrop/orm/mikro-orm';
import type { Upsert } from '../upsert.js';

/** The keys of both tables as the application sees them; `typed` ones only MikroORM 7 has. */
export type Form = 'text' | 'bigint' | 'number' | 'typed';

export type Row = Record<string, unknown>;

/** What a suite is given, as JSON: a database of the tests. */
interface Given {
  readonly database: { readonly type: string; readonly database: string } & Record<string, unknown>;
  /** Without an entity manager of ours. */
  readonly isPlain?: boolean;
  /** The upserts of test/orms/upserts.ts. */
  readonly upserts?: readonly Upsert[];
  /** Whether the keys have a default in the database. */
  readonly databaseDefault?: boolean;
}

export type { Upsert };

export const {
  database,
  isPlain = false,
  upserts = [],
  databaseDefault = false,
} = JSON.parse(process.argv[2]!) as Given;
export const type = database.type as 'mariadb' | 'postgres' | 'better-sqlite3';
/** Of the ORM: 6 or 7. */
export const version = Number(/^\d+/.exec((Utils as any).getORMVersion())![0]);
export const forms: readonly Form[] = isPlain
  ? ['text']
  : version === 6
    ? ['text', 'bigint', 'number']
    : ['text', 'bigint', 'number', 'typed'];

const PACKAGES = {
  mariadb: '@mikro-orm/mariadb',
  postgres: '@mikro-orm/postgresql',
  'better-sqlite3': version === 6 ? '@mikro-orm/better-sqlite' : '@mikro-orm/sqlite',
};
const OPTIONS = {
  text: {},
  bigint: { as: 'bigint' },
  number: { as: 'number' },
  typed: { prefix: 'order' },
} as const;
export const LAYOUT = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 5, endBitsLength: 1 };
export const SILENT = { log() {}, warn() {}, error() {}, debug() {} };

export interface OpenShop {
  readonly form: Form;
  readonly orm: any;
  readonly Order: any;
  readonly Item: any;
  readonly ids: KeyIds;
  /** All that the service has issued. */
  readonly issued: Set<string>;
  /** The largest ID of the layout: what rounds shows it here. */
  readonly largest: string;
  /** A stored ID as the application sees it. */
  shown(id: string): unknown;
  /** The rows whose code or customer begins so, past the ORM and in the order of their codes. */
  stored(tag: string): Promise<{ id: string; code: string; customer: string }[]>;
  close(): Promise<void>;
}

interface KeyIds {
  nextId(code?: string): bigint;
  nextString(code?: string): string;
}

/** Orders and their items, whose keys have these options. */
export function defineShop(options: KeyOptions): { Order: any; Item: any; entities: any[] } {
  const Order: any = defineEntity({
    name: 'Order',
    tableName: 'orders',
    properties: (p: any) => ({
      id: snowflakeKey(options),
      code: p.string().unique().nullable(),
      customer: p.string(),
      items: () => p.oneToMany(Item).mappedBy('order'),
    }),
  } as never);
  const Item: any = defineEntity({
    name: 'Item',
    tableName: 'items',
    properties: (p: any) => ({
      id: snowflakeKey(options),
      name: p.string(),
      order: () => p.manyToOne(Order),
    }),
  } as never);
  return { Order, Item, entities: [Order, Item] };
}

/**
 * @param withoutUs whether the entity manager is MikroORM's own
 * @param more options of MikroORM
 */
export async function connect(entities: any[], withoutUs = isPlain, more: object = {}): Promise<any> {
  const { MikroORM, EntityManager }: any = await import(PACKAGES[type]);
  return MikroORM.init({
    host: database['host'],
    port: database['port'],
    user: database['username'],
    password: database['password'],
    dbName: database.database,
    entities,
    ...(withoutUs ? {} : { entityManager: withSnowflakes(EntityManager) }),
    ...more,
  });
}

/** Makes the tables anew. @throws Error when the schema is not what MikroORM itself expects of the entities */
export async function createSchema(orm: any): Promise<void> {
  const schema = version === 6 ? orm.getSchemaGenerator() : orm.schema;
  await (version === 6 ? schema.dropSchema() : schema.drop());
  await (version === 6 ? schema.createSchema() : schema.create());
  const drift: string = await schema.getUpdateSchemaSQL({ wrap: false, dropTables: false });
  if (drift.trim() !== '') throw new Error(`The schema is not that of the entities: ${drift}`);
}

/** Orders and their items in an empty schema, whose keys have this form, and a service that notes what it issues. */
export async function openShop(form: Form): Promise<OpenShop> {
  const layout = form === 'number' ? { layout: 'number' as const } : LAYOUT;
  const service = await openIdService({
    ...layout,
    workerIdAssigner: 'static',
    workerId: 3,
    restartWaitMs: false,
    logger: SILENT,
  });
  const issued = new Set<string>();
  const note = <Id extends bigint | string>(id: Id): Id => {
    issued.add(String(id));
    return id;
  };
  const ids = {
    nextId: (code?: string) => note(service.nextId(code)),
    nextString: (code?: string) => note(service.nextString(code)),
    nextIdsAsync: async (count: number, code?: string) => (await service.nextIdsAsync(count, code)).map(note),
  };
  const { Order, Item, entities } = defineShop({ ids, ...OPTIONS[form], databaseDefault });
  const orm = await connect(entities);
  await createSchema(orm);
  const { customType } = orm.getMetadata().get(version === 6 ? 'Order' : Order).properties.id;

  return {
    form,
    orm,
    Order,
    Item,
    ids,
    issued,
    shown: (id: string): unknown =>
      form === 'text'
        ? id
        : form === 'bigint'
          ? BigInt(id)
          : form === 'number'
            ? Number(id)
            : customType.convertToJSValue(id),
    largest: String(form === 'number' ? 2n ** 53n - 1n : 2n ** 63n - 1n),
    stored: (tag: string): Promise<{ id: string; code: string; customer: string }[]> =>
      orm.em
        .getConnection()
        .execute(
          `select ${textOf('id')} as id, code, customer from orders where code like ? or customer like ? order by code, id`,
          [`${tag}%`, `${tag}%`],
        ),
    close: async (): Promise<void> => {
      await orm.close(true);
      await service.close();
    },
  };
}

/** An ID in SQL, with all its digits. */
export function textOf(column: string): string {
  return `cast(${column} as ${type === 'mariadb' ? 'char' : 'text'})`;
}
