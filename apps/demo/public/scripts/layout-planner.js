import { showBits } from './bit-cells.js';
import { element, setText } from './element.js';
import { fieldCard } from './field-card.js';
import { planLayout, TIME_UNITS } from './layout-maths.js';
import { ask } from './service.js';
import { bits, count, date, shortCount } from './words.js';

/** From the last move of a slider to the question whether the service plans the same. */
const PAUSE_MS = 300;
const COMPARED = ['lifetimeYears', 'expiresAt', 'safeUntil', 'idsPerTick', 'idsPerSecond'];

const byId = (id) => document.getElementById(id);

/** The section that plans a layout: every move is computed here at once, and then confirmed by the service. */
export function layoutPlanner() {
  const form = byId('plan-form');
  let timer;
  let turn = 0;

  const refresh = () => {
    clearTimeout(timer);
    turn++;
    const unit = TIME_UNITS[byId('plan-unit').value];
    const time = byId('plan-time');
    time.min = unit.min;
    time.max = unit.max;
    for (const name of ['plan-time', 'plan-worker', 'plan-end']) {
      const words = bits(Number(byId(name).value));
      byId(name).setAttribute('aria-valuetext', words);
      setText(byId(`${name}-out`), words);
    }
    const options = readOptions();
    const plan = planLayout(options, Date.now());
    const problem = plan.problem ?? countProblem(options);
    setText(byId('plan-problem'), problem ?? '');
    setText(byId('plan-check'), '');
    byId('plan-warnings').replaceChildren();
    byId('plan-outcome').hidden = plan.problem !== undefined;
    byId('plan-bits').hidden = plan.problem !== undefined;
    if (plan.problem !== undefined) return;
    showBits(byId('plan-bits'), plan);
    byId('plan-figures').replaceChildren(...figuresOf(plan));
    setText(byId('plan-code'), codeOf(options));
    if (problem === undefined) timer = setTimeout(() => void confirm(options, plan), PAUSE_MS);
  };

  const confirm = async (options, plan) => {
    const mine = turn;
    const figures = figuresOf(plan).map((card) => [...card.children].map((part) => part.textContent).join(' '));
    setText(byId('plan-said'), figures.slice(0, 2).join('; '));
    try {
      const theirs = await ask('v1/layouts/plan', { method: 'POST', body: options });
      if (mine !== turn) return;
      const warnings = theirs.warnings.map(({ message }) => element('li', {}, sentence(message)));
      byId('plan-warnings').replaceChildren(...warnings);
      const same = COMPARED.every((figure) => theirs[figure] === plan[figure]);
      setText(byId('plan-check'), same ? '✓ The service plans the same.' : 'The service plans it differently.');
    } catch (problem) {
      if (mine !== turn) return;
      const problems = problem.problems.map(({ option, message }) => `${option}: ${message}`).join('; ');
      if (problem.passing) setText(byId('plan-check'), 'Planned here; the service cannot confirm it now.');
      else setText(byId('plan-problem'), sentence(problems || problem.message));
    }
  };

  form.addEventListener('input', refresh);
  form.addEventListener('submit', (event) => event.preventDefault());
  byId('plan-unit').addEventListener('change', (event) => {
    const { min } = TIME_UNITS[event.target.value];
    // A unit's own middle ground: a century or two.
    byId('plan-time').max = 63;
    byId('plan-time').value = min + 2;
    refresh();
  });
  byId('plan-copy').addEventListener('click', async () => {
    const button = byId('plan-copy');
    try {
      await navigator.clipboard.writeText(byId('plan-code').textContent);
      setText(button, 'Copied');
    } catch {
      getSelection().selectAllChildren(byId('plan-code'));
      setText(button, 'Selected');
    }
    setTimeout(() => setText(button, 'Copy'), 2_000);
  });
  refresh();
}

function readOptions() {
  const number = (name) => Number(byId(name).value);
  const optional = (option, name) => (byId(name).value === '' ? {} : { [option]: number(name) });
  return {
    timeUnit: byId('plan-unit').value,
    startTimeStamp: byId('plan-epoch').value,
    timeStampLength: number('plan-time'),
    workIdLength: number('plan-worker'),
    endBitsLength: number('plan-end'),
    ...optional('expectedNodes', 'plan-nodes'),
    ...optional('expectedIdsPerSecond', 'plan-speed'),
  };
}

function countProblem({ expectedNodes = 1, expectedIdsPerSecond = 1 }) {
  const isCount = (number) => Number.isSafeInteger(number) && number >= 1;
  if (!isCount(expectedNodes)) return 'Processes expected: give a whole number from 1 on, or nothing.';
  if (!isCount(expectedIdsPerSecond)) return 'IDs per second of each: give a whole number from 1 on, or nothing.';
  return undefined;
}

function figuresOf(plan) {
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
    { role: 'worker', name: 'Workers', value: count(plan.workers.count), meaning: 'processes at once' },
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

function codeOf(options) {
  const layout = Object.entries(options).filter(([name]) => !name.startsWith('expected'));
  const lines = layout.map(([name, value]) => `  ${name}: ${typeof value === 'string' ? `'${value}'` : value},`);
  return ['RaindropModule.forRoot({', ...lines, '  // and your database', '})'].join('\n');
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
