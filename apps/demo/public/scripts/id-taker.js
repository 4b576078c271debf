import { element, setText } from './element.js';
import { repeat } from './repeat.js';
import { count } from './words.js';

const MOST = 10_000;
const SHOWN = 4;
const PAUSE_MS = 100;

const byId = (id) => document.getElementById(id);

/**
 * The form that takes IDs, once or again and again.
 * @param {(count: number) => Promise<string[]>} takeIds
 * @param {(id: string) => void} onRead a person wants to see one of them
 */
export function idTaker(takeIds, onRead) {
  const amount = byId('take-count');
  const on = byId('take-on');
  const list = byId('take-list');
  let total = 0;
  let isOn = false;

  const wanted = () => {
    const number = Number(amount.value);
    const isRight = amount.value !== '' && Number.isInteger(number) && number >= 1 && number <= MOST;
    amount.setAttribute('aria-invalid', String(!isRight));
    setText(byId('take-problem'), isRight ? '' : `Take from 1 to ${count(MOST)} at once, a whole number.`);
    return isRight ? number : undefined;
  };

  const take = async () => {
    const number = wanted();
    if (number === undefined) return false;
    const begin = performance.now();
    try {
      const ids = await takeIds(number);
      show(ids);
      total += ids.length;
      return { number: ids.length, ms: performance.now() - begin };
    } catch (problem) {
      setText(byId('take-problem'), problem.message);
      return false;
    }
  };

  const show = (ids) => {
    // Who has tabbed to one of them shall not lose it.
    if (list.contains(document.activeElement)) return;
    const items = ids.slice(0, SHOWN).map((id) => {
      const button = element('button', { type: 'button', class: 'id-link', 'aria-label': `Read ${id}` }, id);
      button.addEventListener('click', () => onRead(id));
      return element('li', {}, button);
    });
    if (ids.length > SHOWN) items.push(element('li', { class: 'rest' }, `and ${count(ids.length - SHOWN)} more`));
    list.replaceChildren(...items);
  };

  const loop = repeat(async () => {
    if (!(await take())) stop();
  }, PAUSE_MS);

  const stop = () => {
    loop.stop();
    isOn = false;
    setText(on, 'Keep taking');
    setText(byId('take-said'), `${count(total)} IDs taken.`);
  };

  byId('take-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const taken = await take();
    if (!taken) return;
    const noun = taken.number === 1 ? 'ID' : 'IDs';
    setText(byId('take-said'), `${count(taken.number)} ${noun} in ${taken.ms.toFixed(0)} ms, the way there included.`);
  });
  amount.addEventListener('input', wanted);
  on.addEventListener('click', () => {
    if (isOn) return stop();
    total = 0;
    isOn = true;
    setText(on, 'Stop');
    setText(byId('take-said'), 'Taking until you stop.');
    loop.start();
  });
}
