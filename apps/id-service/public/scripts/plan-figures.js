import { fieldCard } from './field-card.js';
import { count, date, shortCount } from './words.js';

/** The cards that say what a plan comes to. */
export function figuresOf(plan) {
  const until = plan.expiresAt === null ? 'past the year 275760' : `until ${date(new Date(plan.expiresAt))}`;
  const years = plan.lifetimeYears < 100 ? plan.lifetimeYears.toFixed(1) : shortCount(Math.floor(plan.lifetimeYears));
  const perTick = plan.timeUnit === 'second' ? '' : `, ${shortCount(plan.idsPerTick)} in a ${plan.timeUnit}`;
  return [
    { role: 'time', name: 'Lifetime', value: `${years} years`, meaning: until },
    {
      role: 'sequence',
      name: 'IDs per second',
      value: shortCount(plan.idsPerSecond),
      meaning: `of each worker${perTick}`,
    },
    {
      role: 'worker',
      name: 'Workers',
      value: count(plan.workers.count),
      meaning: `processes at once, ids ${plan.workers.min} to ${plan.workers.max}`,
    },
    { role: 'fixed', name: 'Safe as a JavaScript number', ...safetyOf(plan) },
  ].map(fieldCard);
}

function safetyOf({ safeUntil }) {
  if (safeUntil === null) return { value: 'Always', meaning: 'IDs never pass 2⁵³ − 1' };
  const isOver = Date.parse(safeUntil) <= Date.now();
  return {
    value: isOver ? 'No' : `Until ${date(new Date(safeUntil))}`,
    meaning: isOver ? 'IDs pass 2⁵³ − 1: keep them as bigint or text' : 'then IDs pass 2⁵³ − 1',
  };
}
