/** What an application exports of its database, for `raindrop doctor --app`. `APP` says which database, and how it is read. */
import { defineEntity, MikroORM } from '@mikro-orm/postgresql';
import { snowflakeKey } from '@raindrop/orm/mikro-orm';

const { url, isExact } = JSON.parse(process.env['APP']!) as { readonly url: string; readonly isExact: boolean };
const Order = defineEntity({ name: 'Order', properties: { id: snowflakeKey() } });

export const orm = MikroORM.init({
  clientUrl: url,
  entities: [Order],
  driverOptions: isExact ? {} : { types: { getTypeParser: () => Number } },
});
