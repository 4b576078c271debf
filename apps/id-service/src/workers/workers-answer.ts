import { ApiProperty } from '@nestjs/swagger';
import type { WorkerState } from '@raindrop/nestjs';
import { examplePlan } from '../layouts/layouts.js';

const STATES: readonly WorkerState[] = ['held', 'free', 'expired', 'foreign', 'used-up', 'deleted'];

/** How far a lane was granted. */
export class OdometerAnswer {
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T08:16:35.000Z' })
  readonly time!: string | null;

  @ApiProperty({ type: 'integer', example: 262_143 })
  readonly sequence!: number;
}

/** A row of the worker table. */
export class WorkerAnswer {
  @ApiProperty({ type: 'integer', example: 17 })
  readonly workerId!: number;

  @ApiProperty({ enum: STATES, example: 'held' })
  readonly state!: WorkerState;

  @ApiProperty({ example: 'orders-5d9c7:1:a3f81b', description: "Who has it, or had it last; '' when nobody did." })
  readonly holder!: string;

  @ApiProperty({ type: Number, nullable: true, example: 52_110, description: 'Null when it is not held.' })
  readonly leaseLeftMs!: number | null;

  @ApiProperty({ type: Number, nullable: true, example: 112_110, description: 'Until others may take it.' })
  readonly graceLeftMs!: number | null;

  @ApiProperty({ enum: [0, 1], example: 0 })
  readonly lane!: number;

  @ApiProperty({ type: [OdometerAnswer], minItems: 2, maxItems: 2, description: 'Of both lanes.' })
  readonly odometers!: OdometerAnswer[];

  @ApiProperty({ example: examplePlan.fingerprint, description: "Of its last holder; '' when it was never used." })
  readonly layout!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T08:15:22.000Z' })
  readonly heartbeat!: string | null;
}

/** What GET /v1/workers answers: `WorkersView` as it is in JSON. */
export class WorkersAnswer {
  @ApiProperty({ example: 1_795_248_930_123, description: "By the database's clock, Unix ms." })
  readonly nowMs!: number;

  @ApiProperty({ type: [WorkerAnswer] })
  readonly workers!: WorkerAnswer[];
}
