import { ApiProperty } from '@nestjs/swagger';
import type { FieldRole, LayoutPlan, LayoutWarning, PlannedField, TimeUnit } from '@raindrop/nestjs';
import { examplePlan } from './layout-examples.js';
import { PRESET_NAMES, namedPresets, type PresetName } from './named-presets.js';
import { planOfLayout } from './plan-of-layout.js';

const ROLES: readonly FieldRole[] = ['time', 'worker', 'clockBack', 'sequence', 'fixed'];

/** Describes core's `PlannedField`. */
export class PlannedFieldView implements PlannedField {
  @ApiProperty({ example: 'timestamp' })
  readonly name!: string;

  @ApiProperty({ enum: ROLES, example: 'time' })
  readonly role!: FieldRole;

  @ApiProperty({ type: 'integer', example: 33 })
  readonly bits!: number;

  @ApiProperty({ type: 'integer', example: 30 })
  readonly shift!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'What a fixed field always holds; else null.' })
  readonly value!: number | null;
}

/** The service's worker ids, both ends included. */
export class PlannedWorkers {
  @ApiProperty({ type: 'integer', example: 1 })
  readonly min!: number;

  @ApiProperty({ type: 'integer', example: 64 })
  readonly max!: number;

  @ApiProperty({ type: 'integer', example: 64 })
  readonly count!: number;
}

/** Describes core's `LayoutWarning`. */
export class PlanWarning implements LayoutWarning {
  @ApiProperty({ type: String, example: 'FEW_WORKERS', description: 'Stable.' })
  readonly code!: LayoutWarning['code'];

  @ApiProperty({ example: '16 worker ids for 20 nodes: take at least twice as many as nodes' })
  readonly message!: string;
}

/** Describes core's `LayoutPlan`. */
export class PlanView implements LayoutPlan {
  @ApiProperty({ type: [PlannedFieldView], description: 'From the most significant bits down.' })
  readonly fields!: readonly PlannedFieldView[];

  @ApiProperty({ type: 'integer', example: 63, description: 'Without the sign bit.' })
  readonly bits!: number;

  @ApiProperty({ example: examplePlan.fingerprint })
  readonly fingerprint!: string;

  @ApiProperty({ type: String, nullable: true, example: 'second', description: 'Null for a tick without a name.' })
  readonly timeUnit!: TimeUnit | null;

  @ApiProperty({ type: 'integer', example: 1_000 })
  readonly unitMs!: number;

  @ApiProperty({ format: 'date-time', example: '2026-01-01T00:00:00.000Z' })
  readonly epoch!: string;

  @ApiProperty({ example: 272.39, description: 'Years of 365 days, from the epoch on.' })
  readonly lifetimeYears!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'The first moment without IDs.' })
  readonly expiresAt!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The first moment whose IDs JavaScript may round as numbers.',
  })
  readonly safeUntil!: string | null;

  @ApiProperty({ example: 262_144, description: 'Of one worker and code.' })
  readonly idsPerTick!: number;

  @ApiProperty({ example: 262_144 })
  readonly idsPerSecond!: number;

  @ApiProperty()
  readonly workers!: PlannedWorkers;

  @ApiProperty({ type: [PlanWarning] })
  readonly warnings!: readonly PlanWarning[];
}

/** A preset and what it comes to. */
export class NamedPlan {
  @ApiProperty({ enum: PRESET_NAMES, example: 'twitter' })
  readonly name!: PresetName;

  @ApiProperty({ example: planOfLayout(namedPresets.twitter) })
  readonly plan!: PlanView;
}
