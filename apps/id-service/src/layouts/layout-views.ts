import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  TIME_UNITS,
  type FieldRole,
  type LayoutAdvice,
  type LayoutNeeds,
  type LayoutPlan,
  type LayoutWarning,
  type PlannedField,
  type TimeUnit,
} from '@raindrop/nestjs';
import { examplePlan, namedPresets, planOfLayout, PRESET_NAMES, type PresetName } from './layouts.js';

/** The body of POST /v1/layouts/plan: core's `LayoutOptions`, which core checks. This class only describes them. */
export class LayoutRequest {
  // Without `default`: generators of clients make what has one a field that is always there.
  @ApiPropertyOptional({
    enum: Object.keys(TIME_UNITS),
    example: 'second',
    description: 'The length of a tick; one second by default.',
  })
  readonly timeUnit?: string;

  @ApiProperty({ example: '2026-01-01', description: 'The epoch, not in the future: an ISO date or Unix ms.' })
  readonly startTimeStamp!: string;

  @ApiProperty({ example: 33, description: 'Millisecond 41-55, second 31-55, minute 25-50, hour 19-45, day 15-40.' })
  readonly timeStampLength!: number;

  @ApiProperty({ example: 10, minimum: 3, maximum: 10, description: 'Worker bits.' })
  readonly workIdLength!: number;

  @ApiPropertyOptional({ example: 1, minimum: 0, description: 'The first worker id of the service.' })
  readonly serviceMinWorkId?: number;

  @ApiPropertyOptional({ example: 64, description: 'The last one; by default all.' })
  readonly serviceMaxWorkId?: number;

  @ApiPropertyOptional({ example: 0, enum: [0, 1], description: 'The first value of the clock-back bit.' })
  readonly timeBackBitValue?: number;

  @ApiPropertyOptional({ example: 1, minimum: 0, maximum: 5, description: 'Reserved low bits.' })
  readonly endBitsLength?: number;

  @ApiPropertyOptional({ example: 0, minimum: 0, description: 'Their value.' })
  readonly endBitsValue?: number;

  @ApiPropertyOptional({
    example: 365,
    minimum: 0,
    maximum: 36_500,
    description: 'A layout that expires sooner is refused.',
  })
  readonly minLifetimeDays?: number;

  @ApiPropertyOptional({ example: 20, minimum: 1, description: 'For the warnings only.' })
  readonly expectedNodes?: number;

  @ApiPropertyOptional({ example: 50_000, minimum: 1, description: 'Of one node, for the warnings only.' })
  readonly expectedIdsPerSecond?: number;
}

const ROLES: readonly FieldRole[] = ['time', 'worker', 'clockBack', 'sequence', 'fixed'];

/** Describes core's `PlannedField`. */
class PlannedFieldView implements PlannedField {
  @ApiProperty({ example: 'timestamp' })
  readonly name!: string;

  @ApiProperty({ enum: ROLES, example: 'time' })
  readonly role!: FieldRole;

  @ApiProperty({ type: 'integer', example: 33 })
  readonly bits!: number;

  @ApiProperty({ type: 'integer', example: 30 })
  readonly shift!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'The value of a fixed field; otherwise null.' })
  readonly value!: number | null;
}

/** The service's worker ids, both ends included. */
class PlannedWorkers {
  @ApiProperty({ type: 'integer', example: 1 })
  readonly min!: number;

  @ApiProperty({ type: 'integer', example: 64 })
  readonly max!: number;

  @ApiProperty({ type: 'integer', example: 64 })
  readonly count!: number;
}

/** Describes core's `LayoutWarning`. */
class PlanWarning implements LayoutWarning {
  @ApiProperty({ type: String, example: 'FEW_WORKERS', description: 'Stable.' })
  readonly code!: LayoutWarning['code'];

  @ApiProperty({ example: '16 worker ids for 20 nodes: use at least two per node' })
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

/** The body of POST /v1/layouts/advice: core's `LayoutNeeds`, which core checks. This class only describes them. */
export class AdviceRequest implements LayoutNeeds {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 1_023,
    example: 50,
    description: 'The number of processes that issue IDs at once.',
  })
  readonly processes!: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_000_000_000, example: 2_000, description: 'Of one process.' })
  readonly idsPerSecond!: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_000, example: 30, description: 'From now on.' })
  readonly years!: number;

  @ApiPropertyOptional({ default: false, description: 'Whether IDs must be exact JavaScript numbers all these years.' })
  readonly numbers?: boolean;
}

/** Describes core's `LayoutAdvice`. */
export class AdviceView implements LayoutAdvice {
  @ApiProperty({ enum: ['default', 'number', 'fitted', 'milliseconds'], example: 'default' })
  readonly name!: LayoutAdvice['name'];

  @ApiProperty({ type: LayoutRequest, description: 'For POST /v1/layouts/plan, and for the module.' })
  readonly options!: LayoutAdvice['options'];

  @ApiProperty({ type: PlanView })
  readonly plan!: LayoutAdvice['plan'];

  @ApiProperty({ type: [String], description: 'Its advantages.' })
  readonly reasons!: readonly string[];

  @ApiProperty({ type: [String], description: 'The needs that it does not meet.' })
  readonly misses!: readonly string[];
}
