import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  adviseLayout,
  ConfigurationError,
  planLayout,
  type LayoutAdvice,
  type LayoutNeeds,
  type LayoutOptions,
  type LayoutPlan,
} from '@raindrop/nestjs';
import { ApiBodyProblems, ApiCommonProblems, ApiProblem } from '../http/api-problem.js';
import { ProblemException } from '../problems/problem.js';
import { AdviceRequest, AdviceView, LayoutRequest, NamedPlan, PlanView } from './layout-views.js';
import { exampleOptions, examplePlan, namedPresets, planOfLayout, PRESET_NAMES, type PresetName } from './layouts.js';

/** The description of every plan, besides the example. */
const PLAN_DESCRIPTION =
  'Fields from the most significant bits down, lifetime, capacity, the day from which JavaScript would round the IDs, and warnings. Moments are null beyond the year 275760.';

const NEEDS = { processes: 50, idsPerSecond: 2_000, years: 30, numbers: false };

const ADVICE = adviseLayout(NEEDS, Date.parse('2026-11-21'));

const WRONG = { option: 'workIdLength', given: '2', message: 'is out of range: must be an integer from 3 to 10' };

const NO_NEED = { option: 'processes', given: '0', message: 'is out of range: must be an integer from 1 to 1023' };

@ApiTags('layouts')
@ApiCommonProblems()
@Controller('v1')
export class LayoutsController {
  @Post('layouts/plan')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'planLayout',
    summary: "A layout's lifetime, capacity and warnings. Nothing is issued or changed",
  })
  @ApiBody({ type: LayoutRequest, examples: { service: { value: exampleOptions } } })
  @ApiResponse({ status: 200, description: PLAN_DESCRIPTION, type: PlanView, example: examplePlan })
  @ApiProblem(400, 'CONFIGURATION', `workIdLength ${WRONG.message}`, { fields: { problems: [WRONG] } })
  @ApiBodyProblems()
  plan(@Body() options: object): LayoutPlan {
    return orProblems(() => planLayout(options as LayoutOptions, Date.now()));
  }

  @Post('layouts/advice')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adviseLayout',
    summary: 'Layouts that meet the needs, the best one first. Nothing is issued or changed',
  })
  @ApiBody({ type: AdviceRequest, examples: { needs: { value: NEEDS } } })
  @ApiResponse({
    status: 200,
    description: 'Two or three; one that misses a need says so.',
    type: [AdviceView],
    example: ADVICE,
  })
  @ApiProblem(400, 'CONFIGURATION', `processes ${NO_NEED.message}`, { fields: { problems: [NO_NEED] } })
  @ApiBodyProblems()
  advise(@Body() needs: object): readonly LayoutAdvice[] {
    return orProblems(() => adviseLayout(needs as LayoutNeeds, Date.now()));
  }

  @Get('presets')
  @ApiOperation({ operationId: 'listPresets', summary: 'The layouts of other systems, as plans' })
  @ApiResponse({
    status: 200,
    description: PLAN_DESCRIPTION,
    type: [NamedPlan],
    example: [{ name: 'twitter', plan: planOfLayout(namedPresets.twitter) }],
  })
  presets(): { name: PresetName; plan: LayoutPlan }[] {
    return PRESET_NAMES.map((name) => ({ name, plan: planOfLayout(namedPresets[name]) }));
  }
}

/** @throws ProblemException that names every option that is wrong */
function orProblems<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const { errorCode, problems } = error;
    const detail = problems.map(({ option, message }) => `${option} ${message}`).join('; ');
    throw new ProblemException(400, { errorCode, detail, problems }, error);
  }
}
