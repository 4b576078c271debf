import { Controller, UseFilters } from '@nestjs/common';
import { Ctx, MessagePattern, Payload, TcpContext } from '@nestjs/microservices';
import { IdService } from '@raindrop/nestjs';
import { Drain } from '../drain.js';
import { ApiKeys } from '../http/api-keys.js';
import { StrangersNames } from '../http/strangers-names.js';
import { InputPipe } from '../http/input-pipe.js';
import { RequestRate } from '../connections/request-rate.js';
import { UnreadAnswers } from '../connections/unread-answers.js';
import { IdsUnderWay } from '../ids/ids-under-way.js';
import type { NewIds } from '../ids/new-ids.js';
import { NextIdsMessage } from './next-ids-message.js';
import { TcpDoor } from './tcp-door.js';
import { TcpProblemFilter } from './tcp-problem.filter.js';

/** How long a message waits for IDs before it is told to come again. */
const WAIT = { timeoutMs: 4_000 };

/** What is answered over Nest's TCP transport. */
@Controller()
@UseFilters(TcpProblemFilter)
export class IdsTcpController {
  readonly door: TcpDoor;

  constructor(
    private readonly ids: IdService,
    private readonly keys: ApiKeys,
    private readonly underWay: IdsUnderWay,
    private readonly names: StrangersNames,
    drain: Drain,
    rate: RequestRate,
    unread: UnreadAnswers,
  ) {
    this.door = new TcpDoor(drain.signal, rate, unread);
  }

  @MessagePattern('ids.next')
  next(@Payload(InputPipe) message: NextIdsMessage, @Ctx() context: TcpContext): Promise<NewIds> {
    const { count, code, apiKey } = message;
    const { netSocket } = context.getSocketRef();
    return this.door.during(netSocket, count, async (signal) => {
      if (this.keys.areForAll) this.keys.demandKey(apiKey);
      this.names.admitCode(code, { key: apiKey, address: () => netSocket.remoteAddress ?? '' });
      const ids = (): Promise<string[]> => this.ids.nextStringsAsync(count, code, { ...WAIT, signal });
      return { ids: await this.underWay.during(count, ids) };
    });
  }

  /** The layout's fingerprint: equal texts, equal layouts. */
  @MessagePattern('ids.layout')
  layout(@Ctx() context: TcpContext): Promise<string> {
    return this.door.during(context.getSocketRef().netSocket, 1, () => Promise.resolve(this.ids.layout.fingerprint));
  }
}
