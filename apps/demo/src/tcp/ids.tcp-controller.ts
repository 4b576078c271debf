import { Controller, UseFilters } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { IdService } from '@raindrop/nestjs';
import { ApiKeys, keyRequired } from '../http/api-keys.js';
import { inputPipe } from '../http/input-pipe.js';
import type { NewIds } from '../ids/new-ids.js';
import { NextIdsMessage } from './next-ids-message.js';
import { TcpProblemFilter } from './tcp-problem.filter.js';

/** How long a message waits for IDs before it is told to come again. */
const WAIT = { timeoutMs: 5_000 };

/** What is answered over Nest's TCP transport. */
@Controller()
@UseFilters(TcpProblemFilter)
export class IdsTcpController {
  constructor(
    private readonly ids: IdService,
    private readonly keys: ApiKeys,
  ) {}

  @MessagePattern('ids.next')
  async next(@Payload(inputPipe()) { count, code, apiKey }: NextIdsMessage): Promise<NewIds> {
    if (this.keys.areForAll && !this.keys.accepts(apiKey ?? '')) throw keyRequired();
    return { ids: await this.ids.nextStringsAsync(count, code, WAIT) };
  }

  /** The layout's fingerprint: equal texts, equal layouts. */
  @MessagePattern('ids.layout')
  layout(): string {
    return this.ids.layout.fingerprint;
  }
}
