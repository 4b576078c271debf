import { element, setText } from './element.js';

const TOLD_MS = 2_000;

/**
 * A button that copies a text, and says so for a moment.
 * @param {() => string} textOf what is copied
 */
export function copyButton(label, textOf, attributes = {}) {
  const button = element('button', { type: 'button', class: 'small', ...attributes }, label);
  onCopy(button, textOf);
  return button;
}

/** Makes a button that is there copy; a browser that forbids it says so. */
export function onCopy(button, textOf, otherwise = () => 'Not allowed') {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(textOf());
      setText(button, 'Copied');
    } catch {
      setText(button, otherwise());
    }
    setTimeout(() => setText(button, label), TOLD_MS);
  });
}

/** Has the browser store a text as a file. */
export function downloadText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
