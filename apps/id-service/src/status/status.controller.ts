import { Controller, Get, Inject, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService, type SnowflakeServiceStatus } from '@raindrop/nestjs';
import type { FastifyRequest } from 'fastify';
import type { ServiceConfig } from '../service-config.js';
import { SERVICE_CONFIG } from '../service-config.token.js';
import { ApiKeys } from '../http/api-keys.js';
import { ApiCommonProblems } from '../http/api-problem.js';
import { planOfLayout } from '../layouts/layouts.js';
import { LeaseTimeline } from './lease-timeline.js';
import { ServiceStatus } from './service-status.js';

@ApiTags('ids')
@ApiCommonProblems()
@Controller('v1/status')
export class StatusController {
  constructor(
    private readonly ids: IdService,
    private readonly keys: ApiKeys,
    private readonly timeline: LeaseTimeline,
    @Inject(SERVICE_CONFIG) private readonly config: Pick<ServiceConfig, 'workers'>,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'readStatus', summary: 'How the ID service is' })
  @ApiResponse({ status: 200, type: ServiceStatus })
  read(@Req() { headers }: Pick<FastifyRequest, 'headers'>): ServiceStatus {
    const status = this.ids.status() as SnowflakeServiceStatus;
    const { state, assigner, guarantee, counters, expiresAt, daysLeft, renewals, failures } = status;
    return {
      ...{ state, assigner, guarantee },
      layout: planOfLayout(this.ids.layout, this.config.workers),
      ...{ issued: counters.issued, codes: counters.codes },
      uptimeSeconds: Math.floor(process.uptime()),
      ...{ expiresAt: expiresAt?.toISOString() ?? null, daysLeft },
      lease: {
        leftMs: Math.round(status.leaseLeftMs),
        renewalMs: this.timeline.lastRenewalMs,
        clockOffsetMs: status.clockOffsetMs ?? null,
        ...{ renewals, failures },
        lastErrorCode: status.lastError?.errorCode ?? null,
      },
      events: this.timeline.events,
      showsWorkers: this.keys.areNotNeededBy(headers),
    };
  }
}
