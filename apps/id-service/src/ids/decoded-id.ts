import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { CodecName, FieldRole, Layout, ParsedId } from '@raindrop/nestjs';
import { IsIn, IsOptional } from 'class-validator';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { examplePlan } from '../layouts/layout-examples.js';
import { PRESET_NAMES, type PresetName } from '../layouts/named-presets.js';
import { EXAMPLE } from './example-ids.js';
import { IdFormat } from './id-format.js';

/** The query of GET /v1/ids/:id. */
export class DecodeIdQuery {
  @IdFormat()
  readonly format: CodecName = 'decimal';

  @ApiPropertyOptional({ enum: PRESET_NAMES, description: "Whose layout it is; without it, this service's." })
  @IsOptional()
  @IsIn(PRESET_NAMES, { message: `preset must be one of ${PRESET_NAMES.join(', ')}` })
  readonly preset?: PresetName;
}

/** A run of bits: `(id >> shift) & (2^bits - 1)` is its value. */
export class DecodedField {
  @ApiProperty({ example: 'timestamp' })
  readonly name!: string;

  @ApiProperty({ enum: ['time', 'worker', 'clockBack', 'sequence', 'fixed'], example: 'time' })
  readonly role!: FieldRole;

  @ApiProperty({ example: 33 })
  readonly bits!: number;

  @ApiProperty({ example: 30 })
  readonly shift!: number;

  @ApiProperty({ example: EXAMPLE.tick })
  readonly value!: number;
}

/** What an ID says. */
export class DecodedId {
  @ApiSnowflake({ example: String(EXAMPLE.id), description: 'In decimal: always a string in JSON.' })
  readonly id!: string;

  @ApiProperty({ example: EXAMPLE.time.toISOString(), description: 'The start of its tick.' })
  readonly time!: string;

  @ApiProperty({ example: EXAMPLE.tick, description: "Ticks since the layout's epoch." })
  readonly tick!: number;

  @ApiProperty({ example: EXAMPLE.workerId })
  readonly workerId!: number;

  @ApiProperty({ example: 0, description: 'Flips when the clock of the worker goes back.' })
  readonly clockBack!: number;

  @ApiProperty({ example: EXAMPLE.sequence })
  readonly sequence!: number;

  @ApiProperty({ example: 0 })
  readonly endBits!: number;

  @ApiProperty({ type: [DecodedField], description: 'From the most significant bits down.' })
  readonly fields!: readonly DecodedField[];

  @ApiProperty({ example: examplePlan.fingerprint, description: "The layout's fingerprint." })
  readonly layout!: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'orders-5d9c7:1:a3f81b',
    description: 'Who holds that worker id now, null when nobody does. With an API key and without a preset only.',
  })
  readonly holder?: string | null;
}

export function viewParsedId(parsed: ParsedId, layout: Layout): DecodedId {
  const { id, time, tick, workerId, clockBack, sequence, endBits } = parsed;
  return {
    ...{ id: id.toString(), time: time.toISOString(), tick, workerId, clockBack, sequence, endBits },
    // Of at most 53 bits each: a number holds it.
    fields: layout.fields.map(({ name, role, bits, shift }) => ({
      ...{ name, role, bits, shift },
      value: Number(BigInt.asUintN(bits, id >> BigInt(shift))),
    })),
    layout: layout.fingerprint,
  };
}
