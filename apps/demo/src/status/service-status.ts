import { ApiProperty } from '@nestjs/swagger';
import type { SnowflakeServiceStatus, WorkerGuarantee } from '@raindrop/nestjs';
import { examplePlan } from '../layouts/layout-examples.js';
import { PlanView } from '../layouts/plan-view.js';

/** How the ID service is, for everybody: no worker ids, no hosts. */
export class ServiceStatus {
  @ApiProperty({ enum: ['starting', 'held', 'suspect', 'lost', 'closed'], example: 'held' })
  readonly state!: SnowflakeServiceStatus['state'];

  @ApiProperty({ example: 'database', description: 'Where the worker id comes from.' })
  readonly assigner!: string;

  @ApiProperty({ type: String, example: 'reserved', description: 'What is known of the worker id.' })
  readonly guarantee!: WorkerGuarantee;

  @ApiProperty({ type: PlanView, example: examplePlan })
  readonly layout!: PlanView;

  @ApiProperty({ example: 1_234_567, description: 'IDs issued since the start.' })
  readonly issued!: number;

  @ApiProperty({ example: 3, description: 'Codes in use.' })
  readonly codes!: number;

  @ApiProperty({ example: 86_400 })
  readonly uptimeSeconds!: number;

  @ApiProperty({
    type: String,
    example: '2298-03-16T12:56:32.000Z',
    nullable: true,
    description: "When the layout's timestamps run out.",
  })
  readonly expiresAt!: string | null;

  @ApiProperty({ type: Number, example: 99_091, nullable: true })
  readonly daysLeft!: number | null;
}
