import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService, type SnowflakeServiceStatus } from '@raindrop/nestjs';
import type { DemoConfig } from '../demo-config.js';
import { DEMO_CONFIG } from '../demo-config.token.js';
import { ApiCommonProblems } from '../http/api-problem.js';
import { planOfLayout } from '../layouts/plan-of-layout.js';
import { ServiceStatus } from './service-status.js';

@ApiTags('ids')
@ApiCommonProblems()
@Controller('v1/status')
export class StatusController {
  constructor(
    private readonly ids: IdService,
    @Inject(DEMO_CONFIG) private readonly config: Pick<DemoConfig, 'workers'>,
  ) {}

  @Get()
  @ApiOperation({ summary: 'How the ID service is' })
  @ApiResponse({ status: 200, type: ServiceStatus })
  read(): ServiceStatus {
    const { state, assigner, guarantee, counters, expiresAt, daysLeft } = this.ids.status() as SnowflakeServiceStatus;
    return {
      ...{ state, assigner, guarantee },
      layout: planOfLayout(this.ids.layout, this.config.workers),
      ...{ issued: counters.issued, codes: counters.codes },
      uptimeSeconds: Math.floor(process.uptime()),
      ...{ expiresAt: expiresAt?.toISOString() ?? null, daysLeft },
    };
  }
}
