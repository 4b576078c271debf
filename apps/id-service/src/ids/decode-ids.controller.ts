import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  codecs,
  IdService,
  parseId,
  type CodecName,
  type FieldRole,
  type IdIssuer,
  type IssuerFinding,
  type IssuerView,
  type Layout,
  type ParsedId,
} from '@raindrop/nestjs';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { ApiCommonProblems, ApiOptionalKey, ApiProblem } from '../http/api-problem.js';
import { ApiKeys } from '../http/api-keys.js';
import { examplePlan, namedPresets, PRESET_NAMES, type PresetName } from '../layouts/layouts.js';
import { WorkersService } from '../workers/workers.service.js';
import { EXAMPLE, EXAMPLE_IDS } from './example-ids.js';

const FORMATS = Object.keys(codecs) as CodecName[];

const FINDINGS: readonly IssuerFinding[] = [
  ...(['issued', 'not-recorded', 'before-history', 'never-issued', 'other-layout', 'by-database'] as const),
];

const ENDINGS: readonly IdIssuer['ending'][] = ['held', 'released', 'lapsed'];

/** The query of GET /v1/ids/:id. */
class DecodeIdQuery {
  @ApiPropertyOptional({ enum: FORMATS, default: 'decimal', description: 'How IDs are written.' })
  @IsIn(FORMATS, { message: `format must be one of ${FORMATS.join(', ')}` })
  readonly format: CodecName = 'decimal';

  @ApiPropertyOptional({
    enum: PRESET_NAMES,
    description: "The system whose layout to use; by default this service's.",
  })
  @IsOptional()
  @IsIn(PRESET_NAMES, { message: `preset must be one of ${PRESET_NAMES.join(', ')}` })
  readonly preset?: PresetName;
}

/** A run of bits: `(id >> shift) & (2^bits - 1)` is its value. */
class DecodedField {
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

/** The process that issued an ID. */
class IssuerAnswer {
  @ApiProperty({ example: 'default', description: 'The name of the service in its process.' })
  readonly service!: string;

  @ApiProperty({ example: 'orders-5d9c7', description: "'' if it is hidden." })
  readonly host!: string;

  @ApiProperty({ example: 'orders-5d9c7', description: "'' if it is not known." })
  readonly pod!: string;

  @ApiProperty({ type: 'integer', example: 7 })
  readonly pid!: number;

  @ApiProperty({ type: String, format: 'date-time', example: '2026-11-21T08:00:00.000Z' })
  readonly begun!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null, description: 'Null if unknown.' })
  readonly ended!: string | null;

  @ApiProperty({ enum: ENDINGS, example: 'held', description: 'Lapsed: it crashed or was cut off.' })
  readonly ending!: IdIssuer['ending'];
}

/** What the history of worker ids says about an ID. */
class IdOrigin {
  @ApiProperty({ enum: FINDINGS, example: 'issued' })
  readonly finding!: IssuerFinding;

  @ApiProperty({ type: IssuerAnswer, nullable: true, description: 'Null unless the finding is issued.' })
  readonly issuer!: IssuerAnswer | null;
}

/** The content of an ID. */
class DecodedId {
  @ApiSnowflake({ example: String(EXAMPLE.id), description: 'In decimal: always a string in JSON.' })
  readonly id!: string;

  @ApiProperty({ example: EXAMPLE.time.toISOString(), description: 'The start of its tick.' })
  readonly time!: string;

  @ApiProperty({ example: EXAMPLE.tick, description: "Ticks since the layout's epoch." })
  readonly tick!: number;

  @ApiProperty({ example: EXAMPLE.workerId })
  readonly workerId!: number;

  @ApiProperty({ example: 0, description: "Flips when the worker's clock moves back." })
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
    description:
      'The process that holds the worker id now, or the function of the database that does, or null. Only with an API key and without a preset.',
  })
  readonly holder?: string | null;

  @ApiPropertyOptional({
    type: IdOrigin,
    description: 'The process that issued it. Only with WORKER_HISTORY_DAYS, an API key and without a preset.',
  })
  readonly origin?: IdOrigin;
}

@ApiTags('ids')
@ApiCommonProblems()
@Controller('v1/ids')
export class DecodeIdsController {
  constructor(
    private readonly ids: IdService,
    private readonly keys: ApiKeys,
    private readonly workers: WorkersService,
  ) {}

  @Get(':id')
  @ApiOperation({ operationId: 'decodeId', summary: 'Decode an ID' })
  @ApiOptionalKey()
  @ApiParam({ name: 'id', type: String, example: EXAMPLE_IDS[1] })
  @ApiResponse({ status: 200, type: DecodedId })
  @ApiProblem(400, 'INVALID_ID', 'Not a valid ID (decimal): "01". Legal: 1 to 19 digits, without a leading 0.')
  @ApiProblem(401, 'API_KEY_REQUIRED', 'An API key is required: Authorization: Bearer <key>, or X-API-Key.', {
    description: 'For a wrong key. No key is required.',
  })
  async decode(
    @Param('id') id: string,
    @Query() { format, preset }: DecodeIdQuery,
    @Req() request: FastifyRequest,
  ): Promise<DecodedId> {
    const maySeeHolder = this.keys.areShownBy(request.headers);
    const layout = preset === undefined ? this.ids.layout : namedPresets[preset];
    const read = parsed(layout, id, format);
    const decoded = viewParsedId(read, layout);
    if (!maySeeHolder || preset !== undefined) return decoded;
    const [holder, origin] = await Promise.all([
      this.workers.holderOf(decoded.workerId),
      this.workers.originOf(read.id, layout),
    ]);
    return { ...decoded, holder, ...(origin !== undefined && { origin: viewOrigin(origin) }) };
  }
}

/** An unsigned ID of 64 bits has no other form than decimal. */
function parsed(layout: Layout, id: string, format: CodecName): ParsedId {
  return parseId(layout, format === 'decimal' ? id : codecs[format].decode(id));
}

/** Without the code, which may hold the host's addresses. */
function viewOrigin({ finding, issuer }: Pick<IssuerView, 'finding' | 'issuer'>): IdOrigin {
  if (issuer === null) return { finding, issuer };
  const { service, host, pod, pid, begun, ended, ending } = issuer;
  const times = { begun: begun.toISOString(), ended: ended?.toISOString() ?? null };
  return { finding, issuer: { service, host, pod, pid, ...times, ending } };
}

function viewParsedId(parsed: ParsedId, layout: Layout): DecodedId {
  const { id, time, tick, workerId, clockBack, sequence, endBits } = parsed;
  return {
    id: id.toString(),
    time: time.toISOString(),
    tick,
    workerId,
    clockBack,
    sequence,
    endBits,
    // Of at most 53 bits each: a number holds it.
    fields: layout.fields.map(({ name, role, bits, shift }) => ({
      name,
      role,
      bits,
      shift,
      value: Number(BigInt.asUintN(bits, id >> BigInt(shift))),
    })),
    layout: layout.fingerprint,
  };
}
