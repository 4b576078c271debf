/**
 * A new element.
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children texts stay texts: nothing is read as HTML
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The same in an SVG. */
export function svgElement(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Sets a text only when it differs: a live region that is set again is read again. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
