import { showBits } from './bit-cells.js';
import { element, setText } from './element.js';
import { figuresOf } from './plan-figures.js';
import { ask } from './service.js';
import { bits } from './words.js';

/** From the last move of a slider to the question what the service makes of it. */
const PAUSE_MS = 100;
/** From a question without an answer to the next one. */
const AGAIN_MS = 2_000;

/** How many timestamp bits make sense, by the length of a tick. */
const TIME_BITS = { millisecond: [41, 55], second: [31, 55], minute: [25, 50], hour: [19, 45], day: [15, 40] };

/** What is typed, if anything is: the option and its input. */
const OPTIONAL = {
  serviceMinWorkId: 'plan-first',
  serviceMaxWorkId: 'plan-last',
  endBitsValue: 'plan-end-value',
  expectedNodes: 'plan-nodes',
  expectedIdsPerSecond: 'plan-speed',
};

const INPUTS = {
  ...OPTIONAL,
  startTimeStamp: 'plan-epoch',
  timeStampLength: 'plan-time',
  workIdLength: 'plan-worker',
  endBitsLength: 'plan-end',
};

const byId = (id) => document.getElementById(id);

/** The section that plans a layout: the service says what every move comes to. */
export function layoutPlanner() {
  const form = byId('plan-form');
  let timer;
  let turn = 0;

  const refresh = () => {
    clearTimeout(timer);
    turn++;
    const time = byId('plan-time');
    [time.min, time.max] = TIME_BITS[byId('plan-unit').value];
    for (const name of ['plan-time', 'plan-worker', 'plan-end']) {
      const words = bits(Number(byId(name).value));
      byId(name).setAttribute('aria-valuetext', words);
      setText(byId(`${name}-out`), words);
    }
    setLimits();
    setText(byId('plan-check'), '');
    timer = setTimeout(() => void plan(), PAUSE_MS);
  };

  const plan = async () => {
    const mine = turn;
    const options = readOptions();
    try {
      const planned = await ask('v1/layouts/plan', { method: 'POST', body: options });
      if (mine === turn) showPlan(planned, options);
    } catch (problem) {
      if (mine !== turn) return;
      if (!problem.passing) return showProblems(problem);
      setText(byId('plan-check'), `${problem.message} What you see is what was planned last.`);
      timer = setTimeout(() => void plan(), AGAIN_MS);
    }
  };

  form.addEventListener('input', refresh);
  form.addEventListener('submit', (event) => event.preventDefault());
  byId('plan-unit').addEventListener('change', (event) => {
    const [min] = TIME_BITS[event.target.value];
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

function showPlan(plan, options) {
  showProblems(undefined);
  showBits(byId('plan-bits'), plan);
  const figures = figuresOf(plan);
  const said = figures.map((card) => [...card.children].map((part) => part.textContent).join(' '));
  setText(byId('plan-said'), said.slice(0, 2).join('; '));
  byId('plan-figures').replaceChildren(...figures);
  byId('plan-warnings').replaceChildren(...plan.warnings.map(({ message }) => element('li', {}, sentence(message))));
  setText(byId('plan-code'), codeOf(options));
  setText(byId('plan-check'), '✓ Planned by the service.');
}

/** Says what is wrong, each with the label of its input; undefined: nothing is. */
function showProblems(problem) {
  const problems = problem?.problems ?? [];
  const told = problems.map(({ option, message }) => sentence(`${labelOf(option)}: ${message}`)).join(' ');
  setText(byId('plan-problem'), problem === undefined ? '' : told || sentence(problem.message));
  for (const [option, input] of Object.entries(INPUTS)) {
    if (problems.some((each) => each.option === option)) byId(input).setAttribute('aria-invalid', 'true');
    else byId(input).removeAttribute('aria-invalid');
  }
  byId('plan-outcome').hidden = problem !== undefined;
  // Its room stays: the form below shall not jump while somebody types in it.
  byId('plan-bits').classList.toggle('stale', problem !== undefined);
}

function labelOf(option) {
  return byId(INPUTS[option])?.labels[0].textContent ?? option;
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

function codeOf(options) {
  const layout = Object.entries(options).filter(([name]) => !name.startsWith('expected'));
  const lines = layout.map(([name, value]) => `  ${name}: ${typeof value === 'string' ? `'${value}'` : value},`);
  return ['RaindropModule.forRoot({', ...lines, '  // and your database', '})'].join('\n');
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
