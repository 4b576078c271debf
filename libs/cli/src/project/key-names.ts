import { isNameOf } from '../adopt/loose-columns.js';
import type { OldKeys } from '../adopt/old-key.js';

/** By which names application code speaks of the keys that are adopted. */
export class KeyNames {
  private readonly names: ReadonlySet<string>;
  private readonly tables: readonly string[];

  constructor({ keys, references, loose }: Pick<OldKeys, 'keys' | 'references' | 'loose'>) {
    const columns = [...keys, ...references, ...loose.filter(({ perhaps }) => perhaps !== null)];
    this.names = new Set(columns.map(({ column }) => plain(column)));
    this.tables = keys.map(({ table }) => table);
  }

  /** Whether a variable or a property of that name may hold a key: `id`, `order_id`, `orderId`. */
  isKey(name: string): boolean {
    const stem = /^(.+?)_?(?:id|Id|ID)$/.exec(name)?.[1];
    return this.names.has(plain(name)) || (stem !== undefined && this.isTable(stem));
  }

  /** Whether it may hold several: `ids`, `orderIds`. */
  isKeys(name: string): boolean {
    return name.endsWith('s') && this.isKey(name.slice(0, -1));
  }

  /** Whether the name of a table, or of an entity's class, is that of a table whose keys are adopted. */
  isTable(name: string): boolean {
    return this.tables.some((table) => isNameOf(name, table) || isNameOf(name.replace(/Entity$/, ''), table));
  }
}

/** The same for `order_id`, `orderId` and `ORDER_ID`. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}
