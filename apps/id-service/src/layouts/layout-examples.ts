import { planLayout } from '@raindrop/nestjs';
import { serviceLayout } from '../service-layout.js';

/** What the API's description shows: the service's own layout. */
export const exampleOptions = { ...serviceLayout, expectedNodes: 20, expectedIdsPerSecond: 50_000 };

export const examplePlan = planLayout(exampleOptions, Date.parse('2026-11-21'));

/** What the description says of every plan, beside the example. */
export const PLAN_DESCRIPTION =
  'Fields from the most significant bits down, lifetime, capacity, the day from which JavaScript would round the IDs, and warnings. Moments are null beyond the year 275760.';
