import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type TypedId, IdService } from '@raindrop/nestjs';
import { businessNumber, prepareBusinessNumbers, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: IdService,
  ) {}

  async onModuleInit(): Promise<void> {
    await prepareBusinessNumbers(this.dataSource);
  }

  /** The number is part of the transaction: one that is rolled back gives it back. An ID is simply never used. */
  place(tenant: string, customer: string): Promise<Order> {
    return transactionWithRetries(this.dataSource, async (manager) => {
      const reference = this.ids.nextString(tenant);
      const series = { name: 'invoice', per: tenant, resetBy: 'year' } as const;
      const invoice = await businessNumber(manager, 'INV-{yyyy}-{seq:6}', series);
      return manager.save(manager.create(Order, { tenant, customer, reference, invoice }));
    });
  }

  find(tenant: string, id: TypedId<'order'>): Promise<Order | null> {
    return this.dataSource.manager.findOneBy(Order, { id, tenant });
  }
}
