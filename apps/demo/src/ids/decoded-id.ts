import { ApiProperty } from '@nestjs/swagger';
import type { CodecName, ParsedId } from '@raindrop/core';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { IdFormat } from './id-format.js';

/** The query of GET /v1/ids/:id. */
export class DecodeIdQuery {
  @IdFormat()
  readonly format: CodecName = 'decimal';
}

/** What an ID says. */
export class DecodedId {
  @ApiSnowflake({ description: 'In decimal: always a string in JSON.' })
  readonly id!: string;

  @ApiProperty({ example: '2026-11-21T08:15:30.000Z', description: 'The start of its tick.' })
  readonly time!: string;

  @ApiProperty({ example: 28_027_530, description: 'Seconds since 2026-01-01.' })
  readonly tick!: number;

  @ApiProperty({ example: 17 })
  readonly workerId!: number;

  @ApiProperty({ example: 0, description: 'Flips when the clock of the worker goes back.' })
  readonly clockBack!: number;

  @ApiProperty({ example: 1 })
  readonly sequence!: number;

  @ApiProperty({ example: 0 })
  readonly endBits!: number;
}

export function viewParsedId({ id, time, tick, workerId, clockBack, sequence, endBits }: ParsedId): DecodedId {
  return { id: id.toString(), time: time.toISOString(), tick, workerId, clockBack, sequence, endBits };
}
