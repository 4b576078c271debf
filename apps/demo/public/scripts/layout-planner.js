import { showBits } from './bit-cells.js';
import { element, setText } from './element.js';
import { planLayout, TIME_UNITS } from './layout-maths.js';
import { figuresOf } from './plan-figures.js';
import { ask } from './service.js';
import { bits } from './words.js';

/** From the last move of a slider to the question whether the service plans the same. */
const PAUSE_MS = 300;
const COMPARED = ['lifetimeYears', 'expiresAt', 'safeUntil', 'idsPerTick', 'idsPerSecond'];

/** What is typed, if anything is: the option and its input. */
const OPTIONAL = {
  serviceMinWorkId: 'plan-first',
  serviceMaxWorkId: 'plan-last',
  endBitsValue: 'plan-end-value',
  expectedNodes: 'plan-nodes',
  expectedIdsPerSecond: 'plan-speed',
};

const INPUTS = { ...OPTIONAL, startTimeStamp: 'plan-epoch', timeStampLength: 'plan-time' };

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
    setLimits();
    const options = readOptions();
    const plan = planLayout(options, Date.now());
    const { problem, option } = plan.problem === undefined ? countProblem(options) : plan;
    setText(byId('plan-problem'), problem ?? '');
    for (const [each, input] of Object.entries(INPUTS)) {
      if (each === option) byId(input).setAttribute('aria-invalid', 'true');
      else byId(input).removeAttribute('aria-invalid');
    }
    setText(byId('plan-check'), '');
    byId('plan-warnings').replaceChildren();
    byId('plan-outcome').hidden = plan.problem !== undefined;
    // Its room stays: the form below shall not jump while somebody types in it.
    byId('plan-bits').classList.toggle('stale', plan.problem !== undefined);
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
      const same = COMPARED.every((figure) => theirs[figure] === plan[figure]) && isSameUse(theirs, plan);
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

/** What the worker bits and the end bits allow of the numbers beside them. */
function setLimits() {
  const mostWorker = 2 ** Number(byId('plan-worker').value) - 1;
  for (const name of ['plan-first', 'plan-last']) byId(name).max = mostWorker;
  byId('plan-last').placeholder = mostWorker;
  const endBits = Number(byId('plan-end').value);
  byId('plan-end-value').max = 2 ** endBits - 1;
  byId('plan-end-value').disabled = endBits === 0;
}

/** The same workers, and the same in the end bits. */
function isSameUse(theirs, ours) {
  const use = ({ workers, fields }) => [workers.min, workers.max, fields.find(({ role }) => role === 'fixed')?.value];
  return JSON.stringify(use(theirs)) === JSON.stringify(use(ours));
}

function readOptions() {
  const number = (name) => Number(byId(name).value);
  const typed = Object.entries(OPTIONAL).flatMap(([option, name]) => {
    const { value, validity, disabled } = byId(name);
    // A text that is no number has no value.
    if (validity.badInput) return [[option, NaN]];
    return value === '' || disabled ? [] : [[option, Number(value)]];
  });
  return {
    timeUnit: byId('plan-unit').value,
    startTimeStamp: byId('plan-epoch').value,
    timeStampLength: number('plan-time'),
    workIdLength: number('plan-worker'),
    endBitsLength: number('plan-end'),
    ...Object.fromEntries(typed),
  };
}

function countProblem({ expectedNodes = 1, expectedIdsPerSecond = 1 }) {
  const isCount = (number) => Number.isSafeInteger(number) && number >= 1;
  if (!isCount(expectedNodes)) {
    return { option: 'expectedNodes', problem: 'Processes expected: give a whole number from 1 on, or nothing.' };
  }
  if (!isCount(expectedIdsPerSecond)) {
    const problem = 'IDs per second each: give a whole number from 1 on, or nothing.';
    return { option: 'expectedIdsPerSecond', problem };
  }
  return {};
}

function codeOf(options) {
  const layout = Object.entries(options).filter(([name]) => !name.startsWith('expected'));
  const lines = layout.map(([name, value]) => `  ${name}: ${typeof value === 'string' ? `'${value}'` : value},`);
  return ['RaindropModule.forRoot({', ...lines, '  // and your database', '})'].join('\n');
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
