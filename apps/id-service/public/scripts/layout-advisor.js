import { byId, element, setText } from './dom.js';
import { ask } from './service.js';
import { date, shortCount, wrongInput } from './words.js';

const NAMES = {
  default: 'The default',
  number: "Layout 'number'",
  fitted: 'Fitted to your needs',
  milliseconds: 'In milliseconds',
};

const INPUTS = { processes: 'advise-processes', idsPerSecond: 'advise-rate', years: 'advise-years' };

/**
 * The form that asks the service which layouts meet the needs.
 * @param {(options: object) => void} onUse a person chooses one
 */
export function layoutAdvisor(onUse) {
  byId('advise-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const needs = Object.fromEntries(Object.entries(INPUTS).map(([need, id]) => [need, Number(byId(id).value)]));
    const body = { ...needs, numbers: byId('advise-numbers').checked };
    try {
      const advice = await ask('v1/layouts/advice', { method: 'POST', body });
      tell('', []);
      byId('advice').replaceChildren(...advice.map((each) => cardOf(each, needs, onUse)));
      const [best] = advice;
      const meeting = advice.filter(({ misses }) => misses.length === 0).length;
      const words = `${advice.length} layouts, ${meeting === 0 ? 'none' : meeting} of which ${meeting === 1 ? 'meets' : 'meet'} your needs.`;
      setText(byId('advise-said'), `${words} The best one first: ${NAMES[best.name]}.`);
    } catch (problem) {
      const wrong = problem.problems ?? [];
      const told = wrong.map(({ option, message }) =>
        wrongInput(byId(INPUTS[option])?.labels[0].textContent ?? option, message),
      );
      tell(told.join(' ') || problem.message, wrong);
    }
  });
}

function tell(words, problems) {
  setText(byId('advise-problem'), words);
  for (const [need, id] of Object.entries(INPUTS)) {
    if (problems.some(({ option }) => option === need)) byId(id).setAttribute('aria-invalid', 'true');
    else byId(id).removeAttribute('aria-invalid');
  }
}

function cardOf({ name, options, plan, reasons, misses }, needs, onUse) {
  const { timeUnit, timeStampLength, workIdLength } = options;
  const figures = [
    `${timeStampLength} bits of ${timeUnit}s, ${workIdLength} for workers.`,
    `${shortCount(plan.workers.count)} workers, ${shortCount(plan.idsPerSecond)} IDs per second each,`,
    plan.expiresAt === null ? 'past the year 275760.' : `until ${date(new Date(plan.expiresAt))}.`,
  ];
  const isMissing = misses.length > 0;
  const use = element(
    'button',
    { type: 'button', class: isMissing ? 'plain' : 'primary' },
    isMissing ? 'Use it anyway' : 'Use this',
    element('span', { class: 'unseen' }, `(${NAMES[name]})`),
  );
  use.addEventListener('click', () => {
    const none = { serviceMinWorkId: '', serviceMaxWorkId: '', endBitsValue: '' };
    onUse({ ...none, ...options, expectedNodes: needs.processes, expectedIdsPerSecond: needs.idsPerSecond });
  });
  return element(
    'li',
    { class: `advice ${isMissing ? 'missing' : ''}` },
    ...(isMissing ? [element('span', { class: 'mark' }, 'Does not meet your needs')] : []),
    element('strong', {}, NAMES[name] ?? name),
    element('p', {}, figures.join(' ')),
    ...reasons.map((reason) => element('p', { class: 'reason' }, reason)),
    ...misses.map((miss) => element('p', { class: 'miss' }, miss)),
    use,
  );
}
