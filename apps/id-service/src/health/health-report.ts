import { ApiProperty } from '@nestjs/swagger';

/** A part and what it says of itself; its further members depend on the part. */
const PART = {
  type: 'object' as const,
  required: ['status'],
  properties: { status: { type: 'string', enum: ['up', 'down', 'degraded'] } },
  additionalProperties: true,
};

const PARTS = { type: 'object' as const, additionalProperties: PART };

/** Terminus's report. */
export class HealthReport {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'], example: 'ok' })
  readonly status!: string;

  @ApiProperty({ ...PARTS, description: 'The parts that are well.', example: {} })
  readonly info!: object;

  @ApiProperty({ ...PARTS, description: 'The parts that are not.', example: {} })
  readonly error!: object;

  @ApiProperty({ ...PARTS, description: 'All of them.', example: {} })
  readonly details!: object;
}
