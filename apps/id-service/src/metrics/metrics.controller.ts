import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { prometheusContentType } from 'prom-client';
import { ServiceMetrics } from './service-metrics.js';

const EXAMPLE = `# HELP raindrop_ids_issued_total IDs issued. raindrop.code is absent for those without a code
# TYPE raindrop_ids_issued_total counter
raindrop_ids_issued_total{raindrop_service="default",raindrop_code="order"} 3
`;

@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: ServiceMetrics) {}

  @Get()
  @Header('content-type', prometheusContentType)
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'readMetrics', summary: 'Metrics for Prometheus' })
  @ApiResponse({
    status: 200,
    description: 'Those of docs/operations.md, and those of the process.',
    content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  read(): Promise<string> {
    return this.metrics.text();
  }
}
