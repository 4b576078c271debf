import { Injectable, type OnModuleInit } from '@nestjs/common';
import { businessNumber, prepareBusinessNumbers, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SERIES } from './new-business-number.js';

/** Numbers without gaps. Nothing else is in their transactions here; in an application the invoice would be. */
@Injectable()
export class BusinessNumbersService implements OnModuleInit {
  constructor(private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    await prepareBusinessNumbers(this.dataSource);
  }

  next(series: keyof typeof SERIES, tenant: string | undefined): Promise<string> {
    const options = { name: series, resetBy: 'year', ...(tenant !== undefined && { per: tenant }) } as const;
    return transactionWithRetries(this.dataSource, (manager) => businessNumber(manager, SERIES[series], options));
  }
}
