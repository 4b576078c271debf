import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { TIME_UNITS } from '@raindrop/nestjs';

/** The body of POST /v1/layouts/plan: core's `LayoutOptions`, which core checks. This class only describes them. */
export class LayoutRequest {
  // Without `default`: generators of clients make what has one a field that is always there.
  @ApiPropertyOptional({
    enum: Object.keys(TIME_UNITS),
    example: 'second',
    description: 'The length of a tick; a second when it is left out.',
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

  @ApiPropertyOptional({ example: 0, minimum: 0, description: 'What they hold.' })
  readonly endBitsValue?: number;

  @ApiPropertyOptional({ example: 365, minimum: 0, maximum: 36_500, description: 'Less life than that is refused.' })
  readonly minLifetimeDays?: number;

  @ApiPropertyOptional({ example: 20, minimum: 1, description: 'For the warnings only.' })
  readonly expectedNodes?: number;

  @ApiPropertyOptional({ example: 50_000, minimum: 1, description: 'Of one node, for the warnings only.' })
  readonly expectedIdsPerSecond?: number;
}
