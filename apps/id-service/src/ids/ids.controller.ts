import { Controller, Get, Inject, Logger, Param, Post, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  codecs,
  parseId,
  RaindropError,
  type CodecName,
  type Layout,
  type ParsedId,
  IdService,
} from '@raindrop/nestjs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_CONFIG } from '../service-config.js';
import type { ServiceConfig } from '../service-config.js';
import { Drain } from '../drain.js';
import { ApiCommonProblems, ApiKeyProblem, ApiOptionalKey, ApiProblem } from '../http/api-problem.js';
import { ApiKeys, keyIn } from '../http/api-keys.js';
import { clientAddress } from '../connections/client-address.js';
import { StrangersNames } from '../http/new-names.js';
import { occurrenceOf } from '../problems/problem.js';
import { ProblemException } from '../problems/problem.js';
import { namedPresets } from '../layouts/named-presets.js';
import { WorkersService } from '../workers/workers.service.js';
import { DecodedId, DecodeIdQuery, viewParsedId } from './decoded-id.js';
import { encodeInTurns } from './encode-in-turns.js';
import { EXAMPLE_IDS } from './example-ids.js';
import { goneSignal } from './gone-signal.js';
import { IdStreams } from './id-streams.js';
import { IdsUnderWay } from './ids-under-way.js';
import { IdStreamQuery, NewIds, NewIdsQuery } from './new-ids.js';
import { streamOf } from './stream-of.js';

/** How long a request waits for IDs before it is told to come again. */
const WAIT = { timeoutMs: 4_000 };

const NDJSON = 'application/x-ndjson';

@ApiTags('ids')
@ApiCommonProblems()
@Controller('v1/ids')
export class IdsController {
  private readonly logger = new Logger('IdService');

  constructor(
    private readonly ids: IdService,
    private readonly keys: ApiKeys,
    private readonly workers: WorkersService,
    private readonly drain: Drain,
    private readonly underWay: IdsUnderWay,
    private readonly streams: IdStreams,
    private readonly names: StrangersNames,
    @Inject(SERVICE_CONFIG) private readonly config: Pick<ServiceConfig, 'docsUrl'>,
  ) {}

  // For speed, what is usual is answered before this by issueAtOnce(); two-routes.int-spec.ts compares the two.
  @Post()
  @ApiOperation({ operationId: 'issueIds', summary: 'Issue IDs' })
  @ApiResponse({ status: 201, type: NewIds })
  @ApiProblem(400, 'INVALID_INPUT', 'count must be an integer from 1 to 10000')
  @ApiKeyProblem()
  @ApiProblem(503, 'LEASE_LOST', 'No ID can be issued right now. Try again in a moment.')
  async issue(
    @Query() { count, code, format }: NewIdsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<NewIds> {
    this.admit(code, request);
    return this.underWay.during(count, async () => {
      const ids = await this.ids.nextIdsAsync(count, code, { ...WAIT, signal: goneSignal(raw) });
      return { ids: await encodeInTurns(ids, codecs[format].encode) };
    });
  }

  @Post('stream')
  @ApiOperation({ operationId: 'streamIds', summary: 'Issue many IDs, as a stream of lines, each a JSON string' })
  @ApiResponse({
    status: 201,
    description: 'As fast as they are read. A failure on the way ends it with a line {"error": problem}.',
    content: { [NDJSON]: { schema: { type: 'string' }, example: EXAMPLE_IDS.map((id) => `"${id}"\n`).join('') } },
  })
  @ApiProblem(400, 'INVALID_INPUT', 'count must be an integer from 1 to 10000000')
  @ApiKeyProblem()
  @ApiProblem(503, 'LEASE_LOST', 'No ID can be issued right now. Try again in a moment.')
  async stream(@Query() query: IdStreamQuery, @Req() request: FastifyRequest): Promise<StreamableFile> {
    this.admit(query.code, request);
    const lines = this.streams.open(query, clientAddress(request), request.raw.socket);
    return new StreamableFile(await streamOf(lines, (error) => this.lastLine(error)), { type: NDJSON });
  }

  @Get(':id')
  @ApiOperation({ operationId: 'decodeId', summary: 'Take an ID apart' })
  @ApiOptionalKey()
  @ApiParam({ name: 'id', type: String, example: EXAMPLE_IDS[1] })
  @ApiResponse({ status: 200, type: DecodedId })
  @ApiProblem(400, 'INVALID_ID', 'Not a valid ID (decimal): "01". Legal: 1 to 19 digits, none of them a leading 0.')
  @ApiProblem(401, 'API_KEY_REQUIRED', 'An API key is required: Authorization: Bearer <key>, or X-API-Key.', {
    description: 'For a wrong key; none is needed.',
  })
  async decode(
    @Param('id') id: string,
    @Query() { format, preset }: DecodeIdQuery,
    @Req() request: FastifyRequest,
  ): Promise<DecodedId> {
    const maySeeHolder = this.keys.areShownBy(request.headers);
    const layout = preset === undefined ? this.ids.layout : namedPresets[preset];
    const decoded = viewParsedId(parsed(layout, id, format), layout);
    if (!maySeeHolder || preset !== undefined) return decoded;
    return { ...decoded, holder: await this.workers.holderOf(decoded.workerId) };
  }

  private admit(code: string | undefined, request: FastifyRequest): void {
    this.names.admitCode(code, { key: keyIn(request.headers), address: () => clientAddress(request) });
  }

  /** The status has been sent: what is left to say goes into the last line. */
  private lastLine(error: unknown): string {
    const problem = occurrenceOf(this.drain.signal.aborted ? shuttingDown() : error, this.config.docsUrl);
    if (problem.status >= 500 && !(error instanceof RaindropError) && !this.drain.signal.aborted) {
      this.logger.error(`A stream failed, ${problem.instance}:`, error);
    }
    return `${JSON.stringify({ error: problem })}\n`;
  }
}

function shuttingDown(): ProblemException {
  const detail = 'The service is shutting down. Ask for the rest again.';
  return new ProblemException(503, { errorCode: 'SHUTTING_DOWN', detail, retryable: true });
}

/** An unsigned ID of 64 bits has no other form than decimal. */
function parsed(layout: Layout, id: string, format: CodecName): ParsedId {
  return parseId(layout, format === 'decimal' ? id : codecs[format].decode(id));
}
