import { openIdService } from '@raindrop/node';
import {
  type KeyIds,
  type KeyOptions,
  snowflakeKey,
  snowflakeReference,
  withSnowflakes,
} from '@raindrop/orm/sequelize';
import { DataTypes, Model, type ModelStatic, type Options, QueryTypes, Sequelize } from 'sequelize';
import type { Upsert } from '../upsert.js';

/** The keys of the tables as the application sees them. */
export type Form = 'text' | 'bigint' | 'number' | 'typed';
export type Id = string | bigint | number;

/** What a suite is given, as JSON: a database of the tests. */
interface Given {
  readonly database: {
    readonly type: string;
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly password: string;
    readonly database: string;
  };
  /** On MariaDB: `mariadb` or `mysql`, each with a driver of its own. */
  readonly dialect?: 'mariadb' | 'mysql';
  /** The upserts of test/orms/upserts.ts. */
  readonly upserts?: readonly Upsert[];
  /** Whether the keys have a default in the database. */
  readonly databaseDefault?: boolean;
}

export type { Upsert };

export const given = JSON.parse(process.argv[2] ?? '{}') as Given;
export const { database } = given;
export const dialect =
  database.type === 'better-sqlite3'
    ? 'sqlite'
    : database.type === 'postgres'
      ? 'postgres'
      : (given.dialect ?? 'mariadb');
export const isMysql = dialect === 'mariadb' || dialect === 'mysql';
export const forms: readonly Form[] = ['text', 'bigint', 'number', 'typed'];

const OPTIONS = { text: {}, bigint: { as: 'bigint' }, number: { as: 'number' }, typed: { prefix: 'order' } } as const;
const SILENT = { log() {}, warn() {}, error() {}, debug() {} };
const LAYOUT = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 5, endBitsLength: 1 };

/**
 * For the ID service. On SQLite a file of its own: its driver and that of Sequelize each bring a SQLite, and two of them in
 * one process drop each other's locks of a file.
 */
export const dbConfig = (
  dialect === 'sqlite' ? { ...database, database: `${database.database}.ids` } : database
) as never;

export class Customer extends Model {
  declare id: Id;
  declare name: string;
}

export class Order extends Model {
  declare id: Id;
  declare code: string | null;
  declare customer: string;
  declare quantity: number;
  declare customerId: Id | null;
  declare items?: Item[];
  declare buyer?: Customer;
}

export class Item extends Model {
  declare id: Id;
  declare name: string;
  declare orderId: Id;
  declare order?: Order;
}

export class Tag extends Model {
  declare id: Id;
  declare name: string;
}

/** Of an order with a tag: a row with a key of its own. */
export class Tagging extends Model {
  declare id: Id;
}

/** A Sequelize for the database of this run. */
export function connect(options: Options, isPlain = false): Sequelize {
  const { host, port, username, password, database: name } = database;
  const where: Options =
    dialect === 'sqlite' ? { dialect, storage: name } : { dialect, host, port, username, password, database: name };
  const all: Options = { ...where, logging: false, ...options };
  return new Sequelize(isPlain ? all : withSnowflakes(all));
}

/** Orders, their items, customers and tags, whose keys have these options. */
export function define(sequelize: Sequelize, options: KeyOptions): void {
  const { as, prefix } = options;
  const reference = snowflakeReference({ as, prefix });
  const common = { sequelize, timestamps: false };
  Customer.init({ id: snowflakeKey(options), name: DataTypes.STRING }, { ...common, tableName: 'customers' });
  Order.init(
    {
      id: snowflakeKey(options),
      code: { type: DataTypes.STRING, unique: true },
      customer: { type: DataTypes.STRING, field: 'customer_name' },
      quantity: { type: DataTypes.INTEGER, defaultValue: 0 },
      customerId: { ...reference, field: 'customer_id' },
    },
    { ...common, tableName: 'orders' },
  );
  Item.init(
    { id: { ...snowflakeKey(options), field: 'item_id' }, name: DataTypes.STRING, orderId: reference },
    { ...common, tableName: 'items' },
  );
  Tag.init({ id: snowflakeKey(options), name: DataTypes.STRING }, { ...common, tableName: 'tags' });
  Tagging.init({ id: snowflakeKey(options) }, { ...common, tableName: 'taggings' });
  Order.hasMany(Item, { foreignKey: 'orderId', as: 'items' });
  Item.belongsTo(Order, { foreignKey: 'orderId', as: 'order' });
  Order.belongsTo(Customer, { foreignKey: 'customerId', as: 'buyer' });
  Order.belongsToMany(Tag, { through: Tagging, as: 'tags' });
}

export interface OpenShop {
  readonly form: Form;
  readonly sequelize: Sequelize;
  readonly ids: KeyIds;
  /** All that the service has issued, as decimal text. */
  readonly issued: Set<string>;
  /** The largest ID of the layout: what rounds shows it here. */
  readonly largest: string;
  /** A stored ID as the application sees it. */
  shown(id: string): Id;
  /** The rows of a table, past the models and in the order of their codes. */
  stored(tag: string): Promise<{ id: string; code: string | null; customer: string }[]>;
  close(): Promise<void>;
}

/** Empty tables whose keys have this form, and a service that notes what it issues. */
export async function openShop(form: Form, options: Options = {}): Promise<OpenShop> {
  const service = await openIdService({
    ...(form === 'number' ? { layout: 'number' as const } : LAYOUT),
    workerIdAssigner: 'static',
    workerId: 3,
    restartWaitMs: false,
    logger: SILENT,
  });
  const issued = new Set<string>();
  const note = <Issued extends bigint | string>(id: Issued): Issued => {
    issued.add(String(id));
    return id;
  };
  const ids: Required<Omit<KeyIds, 'nextStrings' | 'layout'>> = {
    nextId: (code) => note(service.nextId(code)),
    nextString: (code) => note(service.nextString(code)),
    nextIdsAsync: async (count, code) => (await service.nextIdsAsync(count, code)).map(note),
  };
  const sequelize = connect(options);
  define(sequelize, { ids, ...OPTIONS[form], databaseDefault: given.databaseDefault ?? false });
  await sequelize.sync({ force: true });
  return {
    form,
    sequelize,
    ids,
    issued,
    largest: String(form === 'number' ? 2n ** 53n - 1n : 2n ** 63n - 1n),
    shown: (id) => Order.build({ id }, { isNewRecord: false }).id,
    stored: (tag) =>
      sequelize.query(
        `select ${textOf('id')} as id, code, customer_name as customer from orders
          where code like $1 or customer_name like $1 order by code, id`,
        { bind: [`${tag}%`], type: QueryTypes.SELECT },
      ),
    close: async () => {
      await sequelize.close();
      await service.close();
    },
  };
}

/** An ID in SQL, with all its digits. */
export function textOf(column: string): string {
  return `cast(${column} as ${isMysql ? 'char' : 'text'})`;
}

/** Every key of a table, as the database writes it. */
export async function keysIn(sequelize: Sequelize, model: ModelStatic<Model>): Promise<string[]> {
  const { field } = (model.getAttributes() as Record<string, { field?: string }>)['id']!;
  const rows = await sequelize.query<{ id: string }>(`select ${textOf(field!)} as id from ${model.tableName}`, {
    type: QueryTypes.SELECT,
  });
  return rows.map(({ id }) => id);
}

/** What became of work that failed. */
export function codeOf(error: unknown): string {
  const { errorCode, why, name, message, parent } = error as Error & {
    readonly errorCode?: string;
    readonly why?: string;
    readonly parent?: Error;
  };
  if (errorCode !== undefined) return `refused: ${errorCode}${why === undefined ? '' : ` ${why}`}`;
  if (message.startsWith('wrong: ')) return message;
  // On SQLite, Sequelize calls every violated constraint a unique one.
  if (/not.null|default value/i.test(parent?.message ?? message)) return 'refused: NOT NULL';
  if (name === 'SequelizeUniqueConstraintError') return 'refused: duplicate key';
  if (name === 'SequelizeEmptyResultError') return 'refused: EmptyResultError';
  if (message.includes('serialize a BigInt')) return 'refused: JSON.stringify takes no bigint';
  return `wrong: ${message}`;
}
