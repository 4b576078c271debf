import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { adviseLayout, type LayoutAdvice, type LayoutNeeds } from '@raindrop/nestjs';
import { LayoutRequest } from './layout-request.js';
import { PlanView } from './plan-view.js';

/** The body of POST /v1/layouts/advice: core's `LayoutNeeds`, which core checks. This class only describes them. */
export class AdviceRequest implements LayoutNeeds {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_023, example: 50, description: 'How many issue at once.' })
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

  @ApiProperty({ type: [String], description: 'What speaks for it.' })
  readonly reasons!: readonly string[];

  @ApiProperty({ type: [String], description: 'Which needs it does not meet.' })
  readonly misses!: readonly string[];
}

/** What the description shows. */
export const exampleNeeds = { processes: 50, idsPerSecond: 2_000, years: 30, numbers: false };

export const exampleAdvice = adviseLayout(exampleNeeds, Date.parse('2026-11-21'));
