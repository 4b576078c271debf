import type { IdService, SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';

/**
 * What the reader of a block is taken to have already: blocks are compiled with these names in scope. Those of earlier
 * blocks of the same document win.
 */
export declare class Order {
  id: string;
  customer: string;
  title: string;
}
export declare class Invoice {
  id: string;
  tenant: string;
  amount: number;
  number: string;
}
/** Of `@nestjs/config`, which is not installed here. */
export declare class ConfigService {
  getOrThrow<Value>(name: string): Value;
}

export declare const ids: IdService;
export declare const dataSource: DataSource;
export declare const order: Order;
export declare const orders: Repository<Order>;
export declare const query: SelectQueryBuilder<Order>;
export declare const monday: Date;
export declare const friday: Date;
export declare const after: string | undefined;
export declare const limit: number;
export declare const endBitsLength: number;
/** The options of the module. */
export declare const options: SnowflakeModuleOptions;
export declare const bits: SnowflakeModuleOptions;
export declare const raindropOptions: SnowflakeModuleOptions;
export declare function alert(message: string): void;
