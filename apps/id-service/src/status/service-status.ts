import { ApiProperty } from '@nestjs/swagger';
import type { SnowflakeServiceStatus, WorkerGuarantee } from '@raindrop/nestjs';
import { examplePlan } from '../layouts/layouts.js';
import { PlanView } from '../layouts/layout-views.js';
import { TYPES, type TimelineEvent } from './lease-timeline.js';

/** Describes `TimelineEvent`. */
export class TimelineEventView implements TimelineEvent {
  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:15:30.000Z' })
  readonly at!: string;

  @ApiProperty({ enum: TYPES, example: 'lease-acquired' })
  readonly type!: TimelineEvent['type'];
}

/** How the worker id is held. */
export class LeaseView {
  @ApiProperty({
    example: 52_110,
    description: 'How long IDs go on without the database, ms; 0 while none are issued.',
  })
  readonly leftMs!: number;

  @ApiProperty({ type: Number, nullable: true, example: 4.2, description: 'What the last renewal took, ms.' })
  readonly renewalMs!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    example: -3,
    description: "This host's clock minus the database's at the last renewal, ms, the way there included.",
  })
  readonly clockOffsetMs!: number | null;

  @ApiProperty({ example: 8_640, description: 'Renewals that succeeded.' })
  readonly renewals!: number;

  @ApiProperty({ example: 0, description: 'Renewals that failed.' })
  readonly failures!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The code of what the last renewal failed with.',
  })
  readonly lastErrorCode!: string | null;
}

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

  @ApiProperty({ type: LeaseView })
  readonly lease!: LeaseView;

  @ApiProperty({ type: [TimelineEventView], description: 'The last 20 that are worth telling, the newest first.' })
  readonly events!: readonly TimelineEventView[];

  @ApiProperty({ example: false, description: 'Whether GET /v1/workers answers this caller without a key.' })
  readonly showsWorkers!: boolean;
}
