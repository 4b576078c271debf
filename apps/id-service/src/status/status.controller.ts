import { Controller, Get, Inject, Injectable, Req } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService, type SnowflakeServiceStatus, type WorkerGuarantee } from '@raindrop/nestjs';
import type { FastifyRequest } from 'fastify';
import { ApiKeys } from '../http/api-keys.js';
import { ApiCommonProblems } from '../http/api-problem.js';
import { PlanView } from '../layouts/layout-views.js';
import { examplePlan, planOfLayout } from '../layouts/layouts.js';
import { SERVICE_CONFIG, type ServiceConfig } from '../service-config.js';

/** The notable events, without the renewals of every few seconds. */
const TYPES = [
  ...(['lease-acquired', 'lease-lost', 'lease-regained', 'lease-suspect', 'lease-released'] as const),
  ...(['clock-back', 'database-regression', 'lease-trouble', 'warning'] as const),
] as const;

/** An event of the worker id, with its public facts only. */
class TimelineEventView {
  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:15:30.000Z' })
  readonly at!: string;

  @ApiProperty({ enum: TYPES, example: 'lease-acquired' })
  readonly type!: (typeof TYPES)[number];
}

/** How many are kept: an outage of an hour is a few hundred attempts, and no reader needs more. */
const MOST_EVENTS = 20;

/** The last events of the lease, and how long the last renewal took: what the page shows of the past. */
@Injectable()
export class LeaseTimeline {
  private readonly kept: TimelineEventView[] = [];
  private renewalMs: number | null = null;

  constructor(ids: IdService) {
    const { events } = ids;
    // Taken a moment ago: the service is there before who listens to it.
    if (ids.status().state === 'held') this.add('lease-acquired');
    for (const type of TYPES) events.on(type, () => this.add(type));
    events.on('lease-renewed', ({ tookMs }: { readonly tookMs: number }) => {
      this.renewalMs = tookMs;
    });
  }

  /** The newest first. */
  get events(): readonly TimelineEventView[] {
    return this.kept;
  }

  /** A read and a write of the database; null before the first renewal. */
  get lastRenewalMs(): number | null {
    return this.renewalMs;
  }

  private add(type: TimelineEventView['type']): void {
    const [last] = this.kept;
    // What is tried again and again is one event, which goes on.
    if (last?.type === type && type === 'lease-trouble') this.kept.shift();
    this.kept.unshift({ at: new Date().toISOString(), type });
    if (this.kept.length > MOST_EVENTS) this.kept.pop();
  }
}

/** How the worker id is held. */
class LeaseView {
  @ApiProperty({
    example: 52_110,
    description: 'How long IDs go on without the database, ms; 0 while none are issued.',
  })
  readonly leftMs!: number;

  @ApiProperty({ type: Number, nullable: true, example: 4.2, description: 'Duration of the last renewal, ms.' })
  readonly renewalMs!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    example: -3,
    description: "This host's clock minus the database's at the last renewal, ms, network time included.",
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
    description: 'The error code of the last failed renewal.',
  })
  readonly lastErrorCode!: string | null;
}

/** The state of the ID service for all clients: no worker ids, no hosts. */
class ServiceStatus {
  @ApiProperty({ enum: ['starting', 'held', 'suspect', 'lost', 'closed'], example: 'held' })
  readonly state!: SnowflakeServiceStatus['state'];

  @ApiProperty({ example: 'database', description: 'The source of the worker id.' })
  readonly assigner!: string;

  @ApiProperty({ type: String, example: 'reserved', description: 'How far the worker id is guaranteed to be unique.' })
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

  @ApiProperty({ type: [TimelineEventView], description: 'The last 20 notable events, newest first.' })
  readonly events!: readonly TimelineEventView[];

  @ApiProperty({ example: false, description: 'Whether GET /v1/workers answers this caller without a key.' })
  readonly showsWorkers!: boolean;
}

@ApiTags('ids')
@ApiCommonProblems()
@Controller('v1/status')
export class StatusController {
  constructor(
    private readonly ids: IdService,
    private readonly keys: ApiKeys,
    private readonly timeline: LeaseTimeline,
    @Inject(SERVICE_CONFIG) private readonly config: Pick<ServiceConfig, 'workers'>,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'readStatus', summary: 'The state of the ID service' })
  @ApiResponse({ status: 200, type: ServiceStatus })
  read(@Req() { headers }: Pick<FastifyRequest, 'headers'>): ServiceStatus {
    const status = this.ids.status();
    const { state, assigner, guarantee, counters, expiresAt, daysLeft, renewals, failures } = status;
    return {
      state,
      assigner,
      guarantee,
      layout: planOfLayout(this.ids.layout, this.config.workers),
      issued: counters.issued,
      codes: counters.codes,
      uptimeSeconds: Math.floor(process.uptime()),
      expiresAt: expiresAt?.toISOString() ?? null,
      daysLeft,
      lease: {
        leftMs: Math.round(status.leaseLeftMs),
        renewalMs: this.timeline.lastRenewalMs,
        clockOffsetMs: status.clockOffsetMs ?? null,
        renewals,
        failures,
        lastErrorCode: status.lastError?.errorCode ?? null,
      },
      events: this.timeline.events,
      showsWorkers: this.keys.areNotNeededBy(headers),
    };
  }
}
