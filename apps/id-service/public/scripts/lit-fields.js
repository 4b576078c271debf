/** Lights a field's card while one of its bits is pointed at, and its bits while the card is. */
export function litFields(bits, cards) {
  const parts = () => [...bits.children, ...cards.children];
  const light = (field) => {
    for (const part of parts()) part.classList.toggle('lit', field !== undefined && part.dataset.field === field);
  };
  for (const box of [bits, cards]) {
    box.addEventListener('pointerover', ({ target }) => light(target.closest('[data-field]')?.dataset.field));
    box.addEventListener('pointerleave', () => light(undefined));
  }
}
