import { fieldCard, showBits } from './bits.js';
import { byId, element, onCopy, setText } from './dom.js';
import { layoutAdvisor } from './layout-advisor.js';
import { shareButton, writeAddress } from './permalink.js';
import { ask } from './service.js';
import { bits, count, date, shortCount, wrongInput } from './words.js';

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
  if (safeUntil === null) return { value: 'Always', meaning: 'No ID exceeds 2⁵³ − 1' };
  const isOver = Date.parse(safeUntil) <= Date.now();
  return {
    value: isOver ? 'No' : `Until ${date(new Date(safeUntil))}`,
    meaning: isOver ? 'IDs exceed 2⁵³ − 1: keep them as bigint or text' : 'later IDs exceed 2⁵³ − 1',
  };
}

/** The bits of the default layout. */
const SECONDS = { timeUnit: 'second', timeStampLength: 33 };

/**
 * What cures a warning of the service, as options and as the words of a button; undefined where only a person can decide.
 * @param code of the warning, or `NO_SEQUENCE` for bits that leave none
 */
export function fixOf(code, plan, options) {
  const { workIdLength, endBitsLength, timeStampLength, expectedNodes = 1, expectedIdsPerSecond = 1 } = options;
  const left = 63 - workIdLength - 1 - endBitsLength;
  const fixes = {
    NO_END_BITS: () => ({ label: 'reserve 1 end bit', options: { endBitsLength: 1 } }),
    LEAP_SECONDS: () => ({ label: 'count seconds', options: SECONDS }),
    COARSE_UNIT: () => ({ label: 'count seconds', options: SECONDS }),
    OLD_EPOCH: () => {
      const startTimeStamp = `${new Date().getUTCFullYear()}-01-01`;
      return { label: `count from ${startTimeStamp}`, options: { startTimeStamp } };
    },
    FEW_WORKERS: () => {
      const needed = Math.ceil(Math.log2(2 * expectedNodes + 1));
      if (needed > 10) return undefined;
      const wider = { workIdLength: Math.max(3, needed), serviceMinWorkId: '', serviceMaxWorkId: '' };
      return { label: `use ${bits(wider.workIdLength)} for workers`, options: wider };
    },
    CAPACITY: () => {
      const sequence = Math.ceil(Math.log2((expectedIdsPerSecond * plan.unitMs) / 1_000));
      return shorter(left - sequence);
    },
    EXPIRES_SOON: () => ({ label: 'one more timestamp bit', options: { timeStampLength: timeStampLength + 1 } }),
    NO_SEQUENCE: () => shorter(left - 12),
  };
  return fixes[code]?.();
}

/** Fewer bits for the time, if that leaves as many as any unit needs. */
function shorter(timeStampLength) {
  if (timeStampLength < 31) return undefined;
  return { label: `use ${bits(timeStampLength)} for the timestamp`, options: { timeStampLength } };
}

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

/** The section that plans a layout: the service says what every move comes to. */
export function layoutPlanner() {
  const form = byId('plan-form');
  let timer;
  let turn = 0;

  /** @param {boolean} isAsked whether a person has moved something: then the address names the plan */
  const refresh = (isAsked) => {
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
    if (isAsked) writeAddress({ plan: planText() });
    timer = setTimeout(() => void plan(), PAUSE_MS);
  };

  const plan = async () => {
    const mine = turn;
    const options = readOptions();
    try {
      const planned = await ask('v1/layouts/plan', { method: 'POST', body: options });
      if (mine === turn) showPlan(planned, options, change);
    } catch (problem) {
      if (mine !== turn) return;
      if (!problem.passing) return showProblems(problem, change);
      setText(byId('plan-check'), `${problem.message} This is the last plan.`);
      timer = setTimeout(() => void plan(), AGAIN_MS);
    }
  };

  /** Sets inputs by the names of their options. */
  const change = (options) => {
    setInputs(options);
    refresh(true);
  };

  form.addEventListener('input', () => refresh(true));
  form.addEventListener('submit', (event) => event.preventDefault());
  byId('plan-unit').addEventListener('change', (event) => {
    const [min] = TIME_BITS[event.target.value];
    // A unit's own middle ground: a century or two.
    byId('plan-time').max = 63;
    byId('plan-time').value = min + 2;
    refresh(true);
  });
  onCopy(byId('plan-copy'), () => byId('plan-code').textContent, {
    otherwise: () => {
      getSelection().selectAllChildren(byId('plan-code'));
      return 'Selected';
    },
  });
  shareButton(byId('plan-share'), () => ({ plan: planText() }));
  layoutAdvisor(change);
  refresh(false);
  return {
    /** A plan as an address names it. */
    use: (text) => {
      useText(text);
      refresh(false);
      byId('plan').scrollIntoView();
    },
  };
}

const NAMED = [
  'timeUnit',
  'startTimeStamp',
  'timeStampLength',
  'workIdLength',
  'endBitsLength',
  ...Object.keys(OPTIONAL),
];

/** The inputs in an order that stays, for an address. */
function planText() {
  const values = NAMED.map((option) => (option === 'timeUnit' ? byId('plan-unit') : byId(INPUTS[option])).value);
  return values.join(',').replace(/,+$/, '');
}

/** What an address of anybody's says is typed, as a person would type it. */
function useText(text) {
  const values = text.slice(0, 200).split(',');
  setInputs(Object.fromEntries(NAMED.map((option, index) => [option, values[index] ?? ''])));
}

function setInputs(options) {
  const { timeUnit, ...others } = options;
  if (timeUnit in TIME_BITS) byId('plan-unit').value = timeUnit;
  [byId('plan-time').min, byId('plan-time').max] = TIME_BITS[byId('plan-unit').value];
  for (const [option, value] of Object.entries(others)) {
    const input = byId(INPUTS[option]);
    if (input) input.value = String(value);
  }
}

function showPlan(plan, options, change) {
  showProblems(undefined, change);
  showBits(byId('plan-bits'), plan);
  const figures = figuresOf(plan);
  const said = figures.map((card) => [...card.children].map((part) => part.textContent).join(' '));
  setText(byId('plan-said'), said.slice(0, 2).join('; '));
  byId('plan-figures').replaceChildren(...figures);
  const warnings = plan.warnings.map((warning) => {
    const item = element('li', {}, sentence(warning.message));
    const fix = fixOf(warning.code, plan, options);
    if (fix !== undefined) item.append(' ', fixButton(fix, change));
    return item;
  });
  byId('plan-warnings').replaceChildren(...warnings);
  setText(byId('plan-code'), codeOf(options));
  setText(byId('plan-check'), '✓ Planned by the service.');
}

/** Says what is wrong, each with the label of its input; undefined: nothing is. */
function showProblems(problem, change) {
  const problems = problem?.problems ?? [];
  const told = problems.map(({ option, message }) => wrongInput(labelOf(option), message)).join(' ');
  setText(byId('plan-problem'), problem === undefined ? '' : told || sentence(problem.message));
  for (const [option, input] of Object.entries(INPUTS)) {
    if (problems.some((each) => each.option === option)) byId(input).setAttribute('aria-invalid', 'true');
    else byId(input).removeAttribute('aria-invalid');
  }
  byId('plan-outcome').hidden = problem !== undefined;
  // They stay where they are, in red: the form below shall not jump while somebody types in it.
  byId('plan-bits').classList.toggle('impossible', problem !== undefined);
  if (problem === undefined) return;
  byId('plan-bits').setAttribute('aria-label', 'These bits make no layout.');
  const fix = problems.some(({ message }) => message.includes('no sequence bit'))
    ? fixOf('NO_SEQUENCE', undefined, readOptions())
    : undefined;
  if (fix !== undefined) byId('plan-problem').append(' ', fixButton(fix, change));
}

function fixButton({ label, options }, change) {
  const button = element('button', { type: 'button', class: 'small fix' }, `Fix: ${label}`);
  button.addEventListener('click', () => {
    change(options);
    byId('plan-time').focus();
  });
  return button;
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
